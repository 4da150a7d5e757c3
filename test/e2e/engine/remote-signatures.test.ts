/** Builds with signed results: what others wrote to the same server is a miss, for results and for packed parts. */
import { generateKeyPairSync } from 'node:crypto';
import { startFakeServer } from '../../support/remote/fake-grpc-server.js';
import { artifactsOf, createRig } from '../../support/remote/remote-rig.js';

const rig = createRig();
afterEach(() => rig.removeAll());

const [ci, stranger] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const trusted = [ci.publicKey];

it('only what a trusted key signed is taken, and one line says that there was more', async () => {
  const server = await startFakeServer();
  try {
    const address = `grpc://127.0.0.1:${server.port}/main`;
    const reader = { write: false, signatures: { own: undefined, trusted } };
    for (const own of [undefined, stranger.privateKey]) {
      server.results.clear();
      await rig.build(rig.checkout(), address, { signatures: { own, trusted: undefined } });
      const { report, warnings } = await rig.build(rig.checkout(), address, reader);
      expect([report.conclusion, report.remote?.hits, warnings]).toEqual(['built', 0, ['remote-cache-failed']]);
    }
    // CI writes to the same server, and replaces what others left there.
    const first = rig.checkout();
    await rig.build(first, address, { signatures: { own: ci.privateKey, trusted } });
    const second = rig.checkout();
    const taken = await rig.build(second, address, reader);
    expect([taken.report.remote?.hits, taken.warnings]).toEqual([4, []]);
    expect(artifactsOf(second)).toEqual(artifactsOf(first));
    const edited = rig.checkout();
    edited.write('source.txt', 'one\nthree');
    const { events } = await rig.build(edited, address, reader);
    expect(events.flatMap(event => (event.kind === 'span' && event.what === 'part' ? [event.part?.answer] : [])).sort()).toEqual([
      'computed',
      'kept',
    ]);
  } finally {
    await server.close();
  }
});
