package bpf

import (
	"strconv"
	"strings"
)

// The numbers of the traced calls, "name:number", as the kernel's own tables
// for each architecture give them.
const (
	numbersAMD64 = "read:0 write:1 open:2 close:3 stat:4 fstat:5 lstat:6 mmap:9 pread64:17 pwrite64:18 readv:19 writev:20 " +
		"access:21 alarm:37 setitimer:38 sendfile:40 socket:41 connect:42 accept:43 sendto:44 recvfrom:45 sendmsg:46 recvmsg:47 bind:49 " +
		"listen:50 socketpair:53 clone:56 fork:57 vfork:58 execve:59 kill:62 truncate:76 ftruncate:77 getdents:78 " +
		"chdir:80 fchdir:81 rename:82 mkdir:83 rmdir:84 creat:85 link:86 unlink:87 symlink:88 readlink:89 chmod:90 " +
		"fchmod:91 chown:92 fchown:93 lchown:94 ptrace:101 syslog:103 setuid:105 setgid:106 setreuid:113 setregid:114 " +
		"setgroups:116 setresuid:117 setresgid:119 setfsuid:122 setfsgid:123 capset:126 rt_sigqueueinfo:129 utime:132 " +
		"mknod:133 personality:135 statfs:137 fstatfs:138 vhangup:153 pivot_root:155 prctl:157 setrlimit:160 chroot:161 " +
		"acct:163 settimeofday:164 mount:165 umount2:166 swapon:167 swapoff:168 reboot:169 sethostname:170 " +
		"setdomainname:171 iopl:172 ioperm:173 init_module:175 delete_module:176 quotactl:179 setxattr:188 " +
		"lsetxattr:189 fsetxattr:190 getxattr:191 lgetxattr:192 listxattr:194 llistxattr:195 removexattr:197 " +
		"lremovexattr:198 fremovexattr:199 tkill:200 getdents64:217 timer_settime:223 clock_settime:227 tgkill:234 utimes:235 " +
		"kexec_load:246 add_key:248 request_key:249 keyctl:250 openat:257 mkdirat:258 mknodat:259 fchownat:260 " +
		"futimesat:261 newfstatat:262 unlinkat:263 renameat:264 linkat:265 symlinkat:266 readlinkat:267 fchmodat:268 " +
		"faccessat:269 unshare:272 splice:275 tee:276 vmsplice:278 utimensat:280 fallocate:285 timerfd_settime:286 accept4:288 preadv:295 " +
		"pwritev:296 rt_tgsigqueueinfo:297 perf_event_open:298 recvmmsg:299 fanotify_init:300 fanotify_mark:301 " +
		"prlimit64:302 name_to_handle_at:303 open_by_handle_at:304 sendmmsg:307 setns:308 process_vm_readv:310 " +
		"process_vm_writev:311 finit_module:313 renameat2:316 seccomp:317 memfd_create:319 kexec_file_load:320 bpf:321 " +
		"execveat:322 userfaultfd:323 copy_file_range:326 preadv2:327 pwritev2:328 statx:332 pidfd_send_signal:424 " +
		"io_uring_setup:425 io_uring_enter:426 io_uring_register:427 open_tree:428 move_mount:429 fsopen:430 " +
		"fsconfig:431 fsmount:432 fspick:433 pidfd_open:434 clone3:435 openat2:437 pidfd_getfd:438 faccessat2:439 " +
		"process_madvise:440 mount_setattr:442 memfd_secret:447 fchmodat2:452 setxattrat:463 removexattrat:466 " +
		"open_tree_attr:467 file_setattr:469"
	numbers386 = "fork:2 read:3 write:4 open:5 close:6 creat:8 link:9 unlink:10 execve:11 chdir:12 mknod:14 chmod:15 lchown:16 " +
		"mount:21 umount:22 setuid:23 ptrace:26 alarm:27 utime:30 access:33 kill:37 rename:38 mkdir:39 rmdir:40 setgid:46 " +
		"acct:51 umount2:52 chroot:61 setreuid:70 setregid:71 sethostname:74 setrlimit:75 settimeofday:79 setgroups:81 " +
		"symlink:83 readlink:85 swapon:87 reboot:88 mmap:90 truncate:92 ftruncate:93 fchmod:94 fchown:95 statfs:99 " +
		"fstatfs:100 ioperm:101 syslog:103 setitimer:104 stat:106 lstat:107 fstat:108 iopl:110 vhangup:111 swapoff:115 clone:120 " +
		"setdomainname:121 init_module:128 delete_module:129 quotactl:131 fchdir:133 personality:136 setfsuid:138 " +
		"setfsgid:139 getdents:141 readv:145 writev:146 setresuid:164 setresgid:170 prctl:172 rt_sigqueueinfo:178 " +
		"pread64:180 pwrite64:181 chown:182 capset:185 sendfile:187 vfork:190 mmap2:192 truncate64:193 ftruncate64:194 " +
		"stat64:195 lstat64:196 fstat64:197 lchown32:198 setreuid32:203 setregid32:204 setgroups32:206 fchown32:207 " +
		"setresuid32:208 setresgid32:210 chown32:212 setuid32:213 setgid32:214 pivot_root:217 getdents64:220 " +
		"setxattr:226 lsetxattr:227 fsetxattr:228 getxattr:229 lgetxattr:230 listxattr:232 llistxattr:233 " +
		"removexattr:235 lremovexattr:236 fremovexattr:237 tkill:238 sendfile64:239 timer_settime:260 clock_settime:264 tgkill:270 " +
		"utimes:271 kexec_load:283 add_key:286 request_key:287 keyctl:288 openat:295 mkdirat:296 mknodat:297 " +
		"fchownat:298 futimesat:299 fstatat64:300 unlinkat:301 renameat:302 linkat:303 symlinkat:304 readlinkat:305 " +
		"fchmodat:306 faccessat:307 unshare:310 splice:313 tee:315 vmsplice:316 utimensat:320 fallocate:324 timerfd_settime:325 preadv:333 " +
		"pwritev:334 rt_tgsigqueueinfo:335 perf_event_open:336 recvmmsg:337 fanotify_init:338 fanotify_mark:339 " +
		"prlimit64:340 name_to_handle_at:341 open_by_handle_at:342 sendmmsg:345 setns:346 process_vm_readv:347 " +
		"process_vm_writev:348 finit_module:350 renameat2:353 seccomp:354 memfd_create:356 bpf:357 execveat:358 " +
		"socket:359 socketpair:360 bind:361 connect:362 listen:363 accept4:364 sendto:369 sendmsg:370 recvfrom:371 " +
		"recvmsg:372 userfaultfd:374 copy_file_range:377 preadv2:378 pwritev2:379 statx:383 timer_settime64:409 timerfd_settime64:411 utimensat_time64:412 " +
		"recvmmsg_time64:417 pidfd_send_signal:424 io_uring_setup:425 io_uring_enter:426 io_uring_register:427 " +
		"open_tree:428 move_mount:429 fsopen:430 fsconfig:431 fsmount:432 fspick:433 pidfd_open:434 clone3:435 " +
		"openat2:437 pidfd_getfd:438 faccessat2:439 process_madvise:440 mount_setattr:442 memfd_secret:447 " +
		"fchmodat2:452 setxattrat:463 removexattrat:466 open_tree_attr:467 file_setattr:469"
	numbersARM64 = "setxattr:5 lsetxattr:6 fsetxattr:7 getxattr:8 lgetxattr:9 listxattr:11 llistxattr:12 removexattr:14 " +
		"lremovexattr:15 fremovexattr:16 mknodat:33 mkdirat:34 unlinkat:35 symlinkat:36 linkat:37 renameat:38 " +
		"umount2:39 mount:40 pivot_root:41 statfs:43 fstatfs:44 truncate:45 ftruncate:46 fallocate:47 faccessat:48 " +
		"chdir:49 fchdir:50 chroot:51 fchmod:52 fchmodat:53 fchownat:54 fchown:55 openat:56 close:57 vhangup:58 " +
		"quotactl:60 getdents64:61 read:63 write:64 readv:65 writev:66 pread64:67 pwrite64:68 preadv:69 pwritev:70 " +
		"sendfile:71 vmsplice:75 splice:76 tee:77 readlinkat:78 newfstatat:79 fstat:80 timerfd_settime:86 utimensat:88 acct:89 capset:91 " +
		"personality:92 unshare:97 setitimer:103 kexec_load:104 init_module:105 delete_module:106 timer_settime:110 clock_settime:112 syslog:116 " +
		"ptrace:117 kill:129 tkill:130 tgkill:131 rt_sigqueueinfo:138 reboot:142 setregid:143 setgid:144 setreuid:145 " +
		"setuid:146 setresuid:147 setresgid:149 setfsuid:151 setfsgid:152 setgroups:159 sethostname:161 " +
		"setdomainname:162 setrlimit:164 prctl:167 settimeofday:170 socket:198 socketpair:199 bind:200 listen:201 " +
		"accept:202 connect:203 sendto:206 recvfrom:207 sendmsg:211 recvmsg:212 add_key:217 request_key:218 keyctl:219 " +
		"clone:220 execve:221 mmap:222 swapon:224 swapoff:225 rt_tgsigqueueinfo:240 perf_event_open:241 accept4:242 " +
		"recvmmsg:243 prlimit64:261 fanotify_init:262 fanotify_mark:263 name_to_handle_at:264 open_by_handle_at:265 " +
		"setns:268 sendmmsg:269 process_vm_readv:270 process_vm_writev:271 finit_module:273 renameat2:276 seccomp:277 " +
		"memfd_create:279 bpf:280 execveat:281 userfaultfd:282 copy_file_range:285 preadv2:286 pwritev2:287 statx:291 " +
		"kexec_file_load:294 pidfd_send_signal:424 io_uring_setup:425 io_uring_enter:426 io_uring_register:427 " +
		"open_tree:428 move_mount:429 fsopen:430 fsconfig:431 fsmount:432 fspick:433 pidfd_open:434 clone3:435 " +
		"openat2:437 pidfd_getfd:438 faccessat2:439 process_madvise:440 mount_setattr:442 memfd_secret:447 " +
		"fchmodat2:452 setxattrat:463 removexattrat:466 open_tree_attr:467 file_setattr:469"
)

// numbers reads such a list.
func numbers(list string) map[string]int {
	m := make(map[string]int)
	for _, w := range strings.Fields(list) {
		name, number, _ := strings.Cut(w, ":")
		n, err := strconv.Atoi(number)
		if err != nil {
			panic("bpf: no number: " + w)
		}
		m[name] = n
	}
	return m
}
