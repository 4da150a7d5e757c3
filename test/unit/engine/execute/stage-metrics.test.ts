/** What counts as the metrics of a stage, and what is refused. */
import { readMetrics } from '../../../../src/engine/execute/stage-metrics.js';
import type { PlannedStage } from '../../../../src/engine/model/plan.js';
import { port } from '../../../../src/stage/ports.js';
import { failureOf } from '../../../support/error-code.js';

const stage = { outputPorts: { metrics: port('metrics'), page: port('any') } } as unknown as PlannedStage;

function read(text: string, sizeBytes = text.length) {
  return readMetrics(stage, name => (name === 'metrics' ? { artifact: { sizeBytes }, read: async () => text } : undefined));
}

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('metrics', () => {
  it.each([
    ['the largest double', '{"a":1.7976931348623157e308}'],
    ['"equal"', '{"sqnrDb":"equal"}'],
    ['null, texts and lists', '{"a":null,"b":"text","c":[1,[2]]}'],
    ['names with dots beside objects', '{"a.b":1,"a":{"b":"text","c":2},"c":{"no. 5":3}}'],
    ['an empty name', '{"":{"a":1},"a":2}'],
    ['64 levels', nested(64)],
    ['brackets in texts', `{"${'['.repeat(100)}\\"${'{'.repeat(100)}":1}`],
  ])('hold %s', async (_, text) => {
    expect(await read(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['a list', '[1]', 'is not a JSON object'],
    ['a cut document', '{"a":1', 'is not JSON'],
    ['Infinity', '{"a":Infinity}', 'is not JSON'],
    ['a number beyond the largest double', '{"a":[0,{"b":-1e999}]}', '"a.1.b"'],
    ['two figures of one path', '{"a.b":1,"a":{"b":"equal"}}', 'two metrics with the path "a.b"'],
    ['65 levels', nested(65), 'more than 64 levels'],
    ['a million levels', '['.repeat(1_000_000), 'more than 64 levels'],
  ])('do not hold %s', async (_, text, why) => {
    const failure = await failureOf(() => read(text));
    expect(failure.code).toBe('metrics-malformed');
    expect(failure.message).toContain(why);
  });

  it('are not read if they have more than 16 MB', async () => {
    const open = readMetrics(stage, () => ({ artifact: { sizeBytes: 16_000_001 }, read: fail }));
    await expect(open).rejects.toThrow('has 17 MB');
  });
});

function fail(): never {
  throw new Error('it is read');
}
