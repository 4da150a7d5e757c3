/** Ctrl-C while a remote cache does not answer: the command ends at once, with the exit code of an interruption. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';

let world: CliWorld;
let server: Server;
beforeEach(async () => {
  world = givenProject(TEXT_PROJECT);
  server = createServer(socket => socket.on('error', () => socket.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  world.remove();
  server.close();
});

it.each([
  ['build', ['build']],
  ['cache remote pull', ['cache', 'remote', 'pull']],
])('%s does not wait for the answer', async (_name, words) => {
  const { port } = server.address() as AddressInfo;
  const command = world.start(...words, '--remote-cache', `http://127.0.0.1:${port}/cache`);
  await once(server, 'connection');
  command.signal('SIGINT');
  expect(await command.ended).toBe(130);
  // What comes at the end of the wait.
  expect(command.output()).not.toContain('no answer in time');
});
