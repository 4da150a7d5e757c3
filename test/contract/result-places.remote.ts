/** The contract of every place that results travel through: another machine takes them whole, or runs the stages, and its bytes are the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { artifactsOf, createRig } from '../support/remote/remote-rig.js';
import { openPlace, PLACE_NAMES, type Place } from '../support/remote/result-places.js';

const rig = createRig();
let folder: string;
let place: Place;
afterEach(async () => {
  rig.removeAll();
  await place.close();
  rmSync(folder, { recursive: true, force: true });
});

const all = (outcome: string) => ({ strip: outcome, folders: outcome, count: outcome, lines: outcome });

describe.each(PLACE_NAMES)('results in a place of the kind %s', name => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tanren-place-'));
    place = await openPlace(name, rig, folder);
  });

  it('are taken by another machine without a run, with their folders, logs and metrics, and equal bytes', async () => {
    const [first, second] = [rig.checkout(), rig.checkout()];
    expect((await place.give(first)).outcomes).toEqual(all('executed'));
    const taken = await place.take(second);
    expect(taken.outcomes).toEqual(all('restored'));
    expect(taken.warnings).toEqual([]);
    expect(artifactsOf(second)).toEqual(artifactsOf(first));
    expect(second.read('cache/logs/pipeline/lines.log')).toBe(first.read('cache/logs/pipeline/lines.log'));
    expect(taken.report.stages.get('count' as never)?.metrics).toEqual((await first.build()).report.stages.get('count' as never)?.metrics);
  });

  it('are used as far as an edit leaves them, and the parts of stages too', async () => {
    await place.give(rig.checkout());
    const edited = rig.checkout();
    edited.write('source.txt', 'one\nthree');
    const { events, outcomes } = await place.take(edited);
    expect(outcomes).toMatchObject({ strip: 'executed', lines: 'executed' });
    const parts = events.flatMap(event => (event.kind === 'span' && event.what === 'part' ? [event.part?.answer] : []));
    expect(parts.sort()).toEqual(['computed', 'kept']);
  });

  it.each(['change', 'remove'] as const)('whose bytes are gone or others (%s) are not taken', async how => {
    const alone = rig.checkout();
    await alone.build();
    await place.give(rig.checkout());
    place.content.spoil(how);
    const other = rig.checkout();
    const { report, outcomes } = await place.take(other);
    expect([report.conclusion, outcomes]).toEqual(['built', all('executed')]);
    expect(artifactsOf(other)).toEqual(artifactsOf(alone));
  });

  it('are empty at first', async () => {
    expect((await place.take(rig.checkout())).outcomes).toEqual(all('executed'));
  });
});
