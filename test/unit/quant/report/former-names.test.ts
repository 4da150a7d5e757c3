/** Reports of `quantize` with former names of fields are read, with a warning. */
import { parseQuantizationReport } from '../../../../src/quant/report/report-entries.js';

const EMPTY = { scheme: {}, samples: 1, counts: {}, activations: [], weights: [], biases: [], inFloat: [], accumulators: [] };
const REMOVED = { node: 'Relu_r', opType: 'Relu', reason: 'the range of its output saturates in its place' };
const FUSED = { node: 'Relu_s', opType: 'Relu' };

function read(report: Parameters<typeof parseQuantizationReport>[0]) {
  const warnings: string[] = [];
  return { report: parseQuantizationReport(report, message => warnings.push(message)), warnings };
}

describe('a quantization report', () => {
  it('with `leftOut` and `between` is read as `removed` and `input`, and warned about once', () => {
    const { report, warnings } = read({ ...EMPTY, leftOut: [{ ...REMOVED, between: 'a' }], fused: [{ ...FUSED, between: 'b' }] });
    expect(report.removed).toEqual([{ ...REMOVED, input: 'a' }]);
    expect(report.fused).toEqual([{ ...FUSED, input: 'b' }]);
    expect(warnings).toEqual([expect.stringContaining('former names of fields (between, leftOut)')]);
  });

  it('with present names is read without a warning', () => {
    const { report, warnings } = read({ ...EMPTY, removed: [{ ...REMOVED, input: 'a' }], fused: [] });
    expect(report.removed).toEqual([{ ...REMOVED, input: 'a' }]);
    expect(warnings).toEqual([]);
  });

  it('with both names keeps the present one', () => {
    const { report } = read({ ...EMPTY, removed: [{ ...REMOVED, input: 'a' }], leftOut: [], fused: [] });
    expect(report.removed).toEqual([{ ...REMOVED, input: 'a' }]);
  });
});
