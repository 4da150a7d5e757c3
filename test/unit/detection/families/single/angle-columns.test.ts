/** Columns that are angles are found by the sine or cosine that the network computes of them. */
import { describeAngle, findAngleColumns } from '../../../../../src/detection/families/single/decoder/angle-columns.js';
import { int, ints } from '../../../../../src/onnx/ir/attribute.js';
import { integers, type SmallModel, smallModel } from '../../../../support/small-model.js';

const ROWS = 60;
const inputs = { boxes: ['float32', [1, 4, ROWS]], scores: ['float32', [1, 5, ROWS]], angle: ['float32', [1, 1, ROWS]] } as const;
/** The boxes are moved by a part of themselves in the direction of the angle, as networks with rotated boxes do. */
const rotated = [
  { op: 'Cos', in: ['angle'], out: ['cos'] },
  { op: 'Mul', in: ['boxes', 'cos'], out: ['moved'] },
] as const;
const join = (axis: number) => ({ op: 'Concat', in: ['moved', 'scores', 'angle'], out: ['y'], attributes: { axis: int(axis) } });

const find = (model: Omit<SmallModel, 'inputs'> & Partial<Pick<SmallModel, 'inputs'>>) =>
  findAngleColumns(smallModel({ inputs, ...model }));

describe('an angle is found', () => {
  it('behind boxes and scores', () => {
    const found = find({ nodes: [...rotated, join(1)], outputs: ['y'] });
    expect(found).toEqual([{ output: 'y', column: 9, columns: 10 }]);
    expect(found.map(describeAngle)).toEqual(['column 9 (counted from 0) of the 10 of output "y" is an angle']);
  });

  it('in a row per box', () => {
    const nodes = [...rotated, join(-2), { op: 'Transpose', in: ['y'], out: ['rows'], attributes: { perm: ints([0, 2, 1]) } }];
    expect(find({ nodes, outputs: ['rows'] })).toEqual([{ output: 'rows', column: 9, columns: 10 }]);
  });

  it('in rows that the network selects, where the sine is computed before', () => {
    const nodes = [
      { op: 'Transpose', in: ['angle'], out: ['turned'], attributes: { perm: ints([0, 2, 1]) } },
      { op: 'Sin', in: ['turned'], out: ['sin'] },
      { op: 'Transpose', in: ['sin'], out: ['back'], attributes: { perm: ints([0, 2, 1]) } },
      { op: 'Mul', in: ['boxes', 'back'], out: ['moved'] },
      join(1),
      { op: 'Split', in: ['y', 'sizes'], out: ['box', 'rest'], attributes: { axis: int(1) } },
      { op: 'GatherElements', in: ['box', 'chosen'], out: ['b'], attributes: { axis: int(2) } },
      { op: 'GatherElements', in: ['rest', 'chosen6'], out: ['r'], attributes: { axis: int(2) } },
      { op: 'Concat', in: ['b', 'r'], out: ['selected'], attributes: { axis: int(1) } },
    ];
    const chosen = { chosen: ['int64', [1, 4, 30]], chosen6: ['int64', [1, 6, 30]] } as const;
    expect(find({ inputs: { ...inputs, ...chosen }, constants: { sizes: integers([4, 6]) }, nodes, outputs: ['selected'] })).toEqual([
      { output: 'selected', column: 9, columns: 10 },
    ]);
  });
});

describe('no angle is found', () => {
  it('where a sine is an output, or is computed of something else', () => {
    const nodes = [
      { op: 'Sin', in: ['scores'], out: ['sin'] },
      { op: 'Concat', in: ['boxes', 'sin', 'angle'], out: ['y'], attributes: { axis: int(1) } },
    ];
    expect(find({ nodes, outputs: ['y'] })).toEqual([]);
  });

  it('where no sine is computed', () => {
    expect(find({ nodes: [{ ...join(1), in: ['boxes', 'scores', 'angle'] }], outputs: ['y'] })).toEqual([]);
  });
});
