/** Tests of the pickle decoder. */
import { decodePickle } from '../../../../src/tensor/formats/pickle.js';
import type { PickleHooks, PickleValue } from '../../../../src/tensor/formats/pickle-value.js';
import { collectTensors } from '../../../../src/tensor/formats/torch-tensors.js';
import { failureOf } from '../../../support/error-code.js';

const hooks: PickleHooks<never> = { isAllowed: path => path === 'builtins.set', call: () => 'called', load: id => id };
const decode = (text: string): unknown => decodePickle(Buffer.from(text, 'latin1'), hooks).value;
const list = (...items: unknown[]): unknown => ({ kind: 'list', items });

describe('pickles', () => {
  it.each([
    ['N.', null],
    ['\x88.', true],
    ['I01\n.', true],
    ['I-12\n.', -12],
    ['K\x07.', 7],
    ['J\xff\xff\xff\xff.', -1],
    ['\x8a\x01\xfe.', -2],
    ['\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.', 2n ** 64n],
    ['G\x3f\xf8\x00\x00\x00\x00\x00\x00.', 1.5],
    ['X\x02\x00\x00\x00\xc3\xa9.', 'é'],
    ["S'abc'\n.", 'abc'],
    ['](K\x01K\x02e.', list(1, 2)],
    [']q\x00K\x01ah\x000.', list(1)],
    ['}X\x01\x00\x00\x00aK\x01s.', { kind: 'dict', entries: [['a', 1]] }],
    ['\x80\x04\x95\x02\x00\x00\x00\x00\x00\x00\x00K\x01.', 1],
    ['cbuiltins\nset\n](K\x01e\x85R.', 'called'],
  ])('%p is %p', (text, value) => {
    expect(decode(text)).toEqual(value);
  });

  it.each([
    ['cos\nsystem\n.', 'unsafe-global', 'os.system'],
    ['cos\nsystem\n0N.', 'unsafe-global', 'os.system'],
    ['\x8c\x02os\x8c\x06system\x93N\x85R.', 'unsafe-global', 'os.system'],
    ['(Vls\nios\nsystem\n.', 'unsafe-global', 'os.system'],
    ['cmine\nNet\n)\x81.', 'whole-module', 'mine.Net'],
    ['(cmine\nNet\no.', 'whole-module', 'mine.Net'],
    ['X\xff\xff\xff\x7f', 'truncated', ''],
    ['\x8d\xff\xff\xff\xff\xff\xff\xff\xff.', 'truncated', ''],
    ['K\x01', 'truncated', ''],
    ['.', 'pickle-malformed', ''],
    ['t.', 'pickle-malformed', ''],
    ['h\x05.', 'pickle-malformed', ''],
    ['K\x01K\x02.', 'pickle-malformed', ''],
    ['K\x01K\x02R.', 'pickle-malformed', ''],
    ['\xff.', 'pickle-malformed', '0xff'],
    ['X\x01\x00\x00\x00\xff.', 'bad-text', ''],
  ])('%p is refused as %s', async (text, code, part) => {
    const failure = await failureOf(() => decode(text));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(part);
  });
});

describe('collecting tensors', () => {
  it('a list that holds itself is refused', async () => {
    const { value } = decodePickle<never>(Buffer.from(']q\x00h\x00a.', 'latin1'), hooks);
    expect(await failureOf(() => collectTensors(value, () => new Uint8Array(0), 0))).toMatchObject({ code: 'checkpoint-malformed' });
  });

  it('sharing that multiplies without end is refused', async () => {
    let value: PickleValue<never> = { kind: 'list', items: [] };
    for (let level = 0; level < 40; level++) value = { kind: 'list', items: [value, value] };
    const nested = value;
    expect(await failureOf(() => collectTensors(nested, () => new Uint8Array(0), 0))).toMatchObject({ code: 'checkpoint-malformed' });
  });
});
