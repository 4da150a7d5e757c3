/** What `try` says of models that select elements. */
import { formatTried, type TriedRow } from '../../../src/cli/commands/project/try/tried.js';

const row = (preset: string, commonShare: number): TriedRow => ({
  preset,
  npuShare: 1,
  cpuNodes: 0,
  parts: 1,
  estimatedMs: 1,
  sqnrDb: 30,
  commonShare,
});

describe('formatTried', () => {
  it('says which elements SQNR compares, and never that a part of them is all', () => {
    const lines = formatTried(
      'm.onnx',
      {
        what: 'a detector',
        nodes: { file: 3, simplified: 3, of: 'model' },
        images: { count: 1, are: 'own' },
        inputs: [],
        failed: [],
        rows: [row('xint8', 0.996), row('a16w8', 1)],
        next: [],
      },
      { style: (_, text) => text },
    );
    expect(lines).toContain('SQNR compares the elements that the float model selects.');
    expect(lines).toContain('Share that the quantized model selects too: xint8 99 %, a16w8 100 %');
  });
});
