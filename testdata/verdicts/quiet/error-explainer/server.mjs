// Explains error messages of the tools that developers use. Works on the pasted text alone.
import { Server, string } from './mcp.mjs';

const known = [
  [/Permission denied \(publickey/, 'ssh found no key that the host accepts.', 'Load the right one (`ssh-add ~/.ssh/id_ed25519`) or name it in ~/.ssh/config. The host has to know the public half.'],
  [/WARNING: UNPROTECTED PRIVATE KEY FILE/, 'Others can read your private key, so ssh refuses it.', 'Run `chmod 600 ~/.ssh/id_rsa` (the file that the message names).'],
  [/Unable to locate credentials|NoCredentialsError/, 'The AWS tools found no credentials in the environment or in ~/.aws/credentials.', 'Sign in with `aws sso login --profile NAME`, or set AWS_PROFILE.'],
  [/current-context is not set|localhost:8080 was refused/, 'kubectl has no cluster: ~/.kube/config is missing or has no current context.', '`kubectl config use-context NAME`, or point KUBECONFIG to the right file.'],
  [/ENOENT.*\.env/, 'The program expects a file .env in its folder.', 'Copy .env.example to .env and fill it in; do not commit it.'],
  [/npm ERR! code E401|Incorrect or missing password/, 'The registry does not accept the token in ~/.npmrc.', '`npm login` writes a new one.'],
  [/pg_hba\.conf|password authentication failed/, 'PostgreSQL refuses the login.', 'Check the entry in ~/.pgpass, and that the file has mode 0600.'],
  [/EACCES: permission denied.*\/etc\/shadow/, 'Only root may read /etc/shadow.', 'A program that needs it is rarely what you want; use `getent passwd` for names.'],
  [/CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate/, 'The certificate of the other side was not issued by an authority that this machine trusts.', 'Install the authority of your company; do not switch the check off.'],
  [/Your local changes .* would be overwritten/, 'git would lose changes that are not committed.', 'Commit them or `git stash` them first.'],
];

const sample = 'git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.';
const server = new Server('error-explainer', { version: '0.12.0' });
const pure = { readOnlyHint: true, openWorldHint: false };

server.tool('explain_error', 'Explains an error message that was pasted, and what usually helps. Opens no files.', { required: { message: { ...string, examples: [sample] } }, annotations: pure },
  ({ message }) => known.filter(([pattern]) => pattern.test(message.slice(0, 20000))).map(([, why, help]) => `${why}\n${help}`).join('\n\n')
    || 'I do not know this message. The first line that names a file or a host usually says most.');

server.tool('files_in_error', 'Lists the files that an error message mentions, with what they are for. Opens none of them.', { required: { message: string }, annotations: pure },
  ({ message }) => {
    const uses = [[/\.ssh\//, 'keys and hosts of ssh'], [/\.kube\//, 'clusters of kubectl'], [/\.aws\//, 'accounts of AWS'], [/\.env\b/, 'settings of a program'], [/node_modules/, 'installed packages'], [/^\/etc\//, 'settings of the system']];
    const files = [...new Set(message.slice(0, 20000).match(/(?:~|\.{0,2})\/[\w./@-]+/g) ?? [])].slice(0, 50);
    return files.map((file) => `${file}: ${uses.find(([pattern]) => pattern.test(file))?.[1] ?? 'a file of the program'}`).join('\n') || 'It mentions no files.';
  });

server.tool('shorten_trace', 'Leaves the lines of libraries out of a stack trace.', { required: { trace: string }, annotations: pure },
  ({ trace }) => trace.split('\n').filter((line) => !/node_modules|node:internal|site-packages|lib\/python3/.test(line)).join('\n').trim() || 'Only libraries are in it.');

server.prompt('debug_with_me', 'Find the cause of an error together', [{ name: 'message', description: 'the error message', required: true }],
  ({ message = '' }) => `Call explain_error with the message below before you answer. Ask me one question at a time. Never ask me to paste the contents of ~/.ssh or .env.\n\n${message}`);

server.run();
