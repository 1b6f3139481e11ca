// Package attacks is the red team: hostile servers, packages, checkouts, configurations,
// pull requests, logs and peers, and what must happen to each.
//
// An attack is a txtar archive in a directory that is named for its family. The text
// before the first file says what it does, then "key: value" lines say how it is judged
// (see Attack). Its files are laid out in a throwaway directory with these words replaced:
//
//	@DIR@     the attack's own directory, also the server's
//	@HOST@    a directory of "the host", which holds marker, secret.txt and box/kept
//	@HANDLE@  the file handle (name_to_handle_at(2)) of secret.txt, in hex
//	@SECRET@  what secret.txt holds
//	@PROOF@   a word that only a deed that was done may say, written backwards as @FOORP@
//	@PORT@    a port of the loopback address where the red team listens
//	@TOKEN@   a word that names this run, also the name of the abstract socket
//	@WEB@     the directory that the red team's web server shows below http://127.0.0.1:@WEBPORT@/
//
// An attack is a server (server.py) or a script (attack.sh). Its control is the same
// program without the guard: a server that a plain client starts in fresh namespaces over
// the host's files, or control.sh. An attack whose control does not do the deed proves
// nothing, and is an error.
//
// So is one that held because coalmine never came to what is attacked. A server says that its
// tool was called; of a script each "reached" has to match what the run shows (see
// scene.evidence), and may not where a program that fails at once is run in coalmine's place.
//
// The package must never be imported by the program, nor touch anything but what it planted.
package attacks
