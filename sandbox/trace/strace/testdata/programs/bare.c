/* A program without a C library, whose first system call is unlink("/nowhere"). */
void _start(void) {
	static const char path[] = "/nowhere";
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(87), "D"(path) : "rcx", "r11", "memory");
	__asm__ volatile("syscall" : : "a"(60), "D"(result != -2) : "rcx", "r11", "memory");
	for (;;) {
	}
}
