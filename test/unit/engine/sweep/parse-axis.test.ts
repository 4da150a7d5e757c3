import { makeDiagnosticList } from '../../../../src/engine/model/diagnostic.js';
import { parseAxis } from '../../../../src/engine/sweep/parse-axis.js';

const parse = (text: string) => parseAxis(text, makeDiagnosticList());

describe('the text of an axis', () => {
  it.each([
    ['preset=xint8,a8w8', 'preset', ['xint8', 'a8w8']],
    [' preset = xint8 , a8w8 ', 'preset', ['xint8', 'a8w8']],
    ['range=mse,percentile:99.9', 'range', ['mse', 'percentile:99.9']],
    ['q.range={kind: mse, candidates: 10},min-max', 'q.range', ['{kind: mse, candidates: 10}', 'min-max']],
    ['q.exclude=[],["a,b", c]', 'q.exclude', ['[]', '["a,b", c]']],
    ['q.x="a, \\" }","b"', 'q.x', ['"a, \\" }"', '"b"']],
    ["q.x='a,b',it's,c", 'q.x', ["'a,b'", "it's", 'c']],
    ['q.x=a=b,c', 'q.x', ['a=b', 'c']],
  ])('%s', (text, address, values) => {
    expect(parse(text)).toEqual({ address, values });
  });

  it.each(['preset', '=a', 'preset=', 'preset=a,', 'preset=a,,b', 'q.x=[a', 'q.x="a'])('%s is refused', text => {
    const diagnostics = makeDiagnosticList();
    expect(parseAxis(text, diagnostics)).toBeUndefined();
    expect(diagnostics.items).toMatchObject([{ code: 'bad-axis', message: `-m ${text}: expected NAME=VALUE,VALUE,…` }]);
  });
});
