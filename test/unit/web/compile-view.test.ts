/** The view "Compile": one call over time, and a board's figures beside the estimates. */
import type { BenchReport } from '../../../src/runtime/measure/bench-report.js';
import type { BoardReport } from '../../../src/target/board/board-report.js';
import { listCallSpans } from '../../../src/web/page/compile/call-spans.js';
import type { CompileReport } from '../../../src/web/page/compile/compile-report.js';
import { groupReasons } from '../../../src/web/page/compile/group-reasons.js';
import { isOfBoard, joinBoard } from '../../../src/web/page/compile/join-board.js';
import { isSurprise, joinBoardReport } from '../../../src/web/page/compile/join-board-report.js';

describe('one call over time', () => {
  const unit = (id: number, times: object) => ({ id, name: `u${id}`, ...times });
  const part = (index: number, units: readonly number[]) => ({ index, name: `0${index}`, units });
  const listed = (units: readonly object[], parts: readonly object[]) =>
    listCallSpans({ units, parts } as unknown as Parameters<typeof listCallSpans>[0]);

  it('runs parts in their order and units of a part in theirs, without gaps', () => {
    const { units, parts, endMs } = listed(
      [unit(0, { callMs: 2 }), unit(1, { callMs: 3 }), unit(2, { callMs: 5 })],
      [part(0, [0, 2]), part(1, [1])],
    );
    expect(units.map(({ unit: { id }, fromMs, ms }) => [id, fromMs, ms])).toEqual([
      [0, 0, 2],
      [2, 2, 5],
      [1, 7, 3],
    ]);
    expect(parts.map(({ fromMs, ms }) => [fromMs, ms])).toEqual([
      [0, 7],
      [7, 3],
    ]);
    expect(endMs).toBe(10);
  });

  it('takes the estimate of a unit where the report has no share of a call, and leaves out units without a time', () => {
    const { units, endMs } = listed([unit(0, { estimate: { ms: 4 } }), unit(1, {}), unit(2, { callMs: 1 })], [part(0, [0, 1, 2, 9])]);
    expect(units.map(({ unit: { id }, fromMs }) => [id, fromMs])).toEqual([
      [0, 0],
      [2, 4],
    ]);
    expect(endMs).toBe(5);
  });

  it('has no end for a report without times', () => {
    expect(listed([unit(0, {})], [part(0, [0])]).endMs).toBe(0);
  });
});

describe('figures of a board', () => {
  const compiled = (name: string, npuNodes: number, perCall?: object) => ({
    name,
    counts: { npuNodes },
    ...(perCall === undefined ? {} : { estimate: { image: { perCall } } }),
  });
  const report = {
    models: [
      compiled('a', 7, { ms: 2, lowMs: 1, highMs: 3 }),
      compiled('b', 8, { ms: 2, lowMs: 1, highMs: 3 }),
      compiled('c', 9),
      compiled('d', 1, { ms: 2, lowMs: 1, highMs: 3 }),
    ],
  } as unknown as CompileReport;
  const measured = (part: string, p50Ms: number, more: object = {}) => ({
    part,
    forms: [{ form: 'int8', rows: [{ counts: [{ calls: 1, here: { p50Ms } }] }], ...more }],
  });
  const bench = (where: object, parts: readonly object[]) => ({ where, parts }) as unknown as BenchReport;

  it('stand beside the estimate of the same model, with whether they lie in its interval', () => {
    const placement = [
      { device: 'npu', provider: 'VitisAI', nodes: 5 },
      { device: 'cpu', provider: 'CPU', nodes: 2 },
    ];
    const rows = joinBoard(report, bench({ runner: 'bundle' }, [measured('a', 2.5, { placement }), measured('b', 0.5), measured('c', 4)]));
    expect(
      rows.map(({ model, measuredMs, within, npuNodes, boardNpuNodes }) => [model, measuredMs, within, npuNodes, boardNpuNodes]),
    ).toEqual([
      ['a', 2.5, 'yes', 7, 5],
      ['b', 0.5, 'faster', 8, undefined],
      ['c', 4, undefined, 9, undefined],
      ['d', undefined, undefined, 1, undefined],
    ]);
  });

  it('of an external runner are by its clock, and per call', () => {
    const part = { part: 'a', forms: [{ form: 'int8', rows: [{ counts: [{ calls: 4, here: { p50Ms: 40 }, device: { p50Ms: 16 } }] }] }] };
    expect(joinBoard(report, bench({ runner: 'external' }, [part]))[0]).toMatchObject({ measuredMs: 4, within: 'slower' });
  });

  it.each([
    [{ runner: 'bundle' }, true],
    [{ runner: 'external', identity: { device: { kind: 'npu' } } }, true],
    [{ runner: 'external', identity: { device: { kind: 'cpu' } } }, false],
    [{ runner: 'external' }, false],
    [{ runner: 'cpu' }, false],
    [{ runner: 'simulate' }, false],
  ])('are those of %j: %s', (where, expected) => {
    expect(isOfBoard(bench(where, []))).toBe(expected);
  });
});

describe('a report of a board', () => {
  const unit = (id: number, device: string, nodes: readonly string[], edge = false) => ({ id, device, nodes, edge });
  const report = {
    models: [
      { name: 'backbone', units: [unit(0, 'npu', ['a', 'b']), unit(1, 'cpu', ['c']), unit(2, 'npu', ['q'], true)] },
      { name: 'head', units: [unit(0, 'npu', ['a'])] },
      { name: 'mask_head', units: [unit(0, 'npu', ['a'])] },
    ],
  } as unknown as CompileReport;
  const node = (name: string, text?: string) => ({ name, op: 'Conv', place: 'cpu', reasons: text === undefined ? [] : [{ text }] });
  const board = (model: string | undefined, nodes: readonly object[]) => ({ model, nodes }) as unknown as BoardReport;

  it('lists first the nodes that were predicted on the NPU, with the words of the board', () => {
    const rows = joinBoardReport(report, board('backbone.onnx', [node('c'), node('q'), node('x'), node('b', 'too wide')]));
    expect(rows.map(row => [row.node, isSurprise(row), row.predicted?.unit.device, row.reasons])).toEqual([
      ['b', true, 'npu', ['too wide']],
      ['c', false, 'cpu', []],
      ['q', false, 'npu', []],
      ['x', false, undefined, []],
    ]);
  });

  it.each([
    ['head_int8.onnx', 'head'],
    ['mask_head.onnx', 'mask_head'],
    ['backbone.onnx', 'backbone'],
    ['other.onnx', 'backbone'],
    [undefined, 'backbone'],
  ])('of %j finds a node that several models have in %s', (model, expected) => {
    expect(joinBoardReport(report, board(model, [node('a')]))[0]?.predicted?.model).toBe(expected);
  });

  it('of a model finds none of the nodes that only others have', () => {
    expect(joinBoardReport(report, board('head.onnx', [node('c')]))[0]?.predicted).toBeUndefined();
  });
});

describe('why units are not on the NPU', () => {
  const finding = (measured: string, more: object = {}) => ({
    rule: 'kernel-size',
    severity: 'refused',
    message: `${measured} is not supported`,
    measured,
    limit: '2 to 8',
    fixIts: [],
    ...more,
  });
  const unit = (id: number, findings: readonly object[], more: object = {}) => ({
    id,
    opType: 'MaxPool',
    device: 'cpu',
    findings,
    ...more,
  });
  const grouped = (units: readonly object[]) =>
    groupReasons(units as unknown as Parameters<typeof groupReasons>[0]).map(({ units: own, measured, demoted }) => [
      own.map(({ id }) => id),
      measured,
      ...(demoted === undefined ? [] : [demoted]),
    ]);

  it('is one entry for units that differ in the measured value only, with each value once', () => {
    const units = [unit(0, [finding('kernel 1×1')]), unit(3, [finding('kernel 9×9')]), unit(5, [finding('kernel 1×1')])];
    expect(grouped(units)).toEqual([
      [
        [0, 3, 5],
        ['kernel 1×1', 'kernel 9×9'],
      ],
    ]);
  });

  it('counts a unit once that breaks a rule with several of its values', () => {
    const units = [unit(0, [finding('scale 0.3'), finding('scale 0.7')]), unit(1, [finding('scale 0.3')])];
    expect(grouped(units)).toEqual([
      [
        [0, 1],
        ['scale 0.3', 'scale 0.7'],
      ],
    ]);
  });

  it('lists no values where all units have the same one, which the message holds', () => {
    expect(grouped([unit(0, [finding('kernel 1×1')]), unit(1, [finding('kernel 1×1')])])).toEqual([[[0, 1], []]]);
  });

  it.each([
    ['the operator', unit(1, [finding('kernel 1×1')], { opType: 'Conv' })],
    ['the device', unit(1, [finding('kernel 1×1')], { device: 'npu' })],
    ['the limit', unit(1, [finding('kernel 1×1', { limit: '1 to 3' })])],
    ['the severity', unit(1, [finding('kernel 1×1', { severity: 'warning' })])],
    ['the fix', unit(1, [finding('kernel 1×1', { fixIts: [{ rule: 'maxpool-1x1', effect: 'exact', note: '' }] })])],
  ])('is another entry where %s differs', (_, other) => {
    expect(grouped([unit(0, [finding('kernel 1×1')]), other])).toHaveLength(2);
  });

  it('keeps messages apart that have no measured value', () => {
    const units = ['one', 'two'].map((message, id) => unit(id, [finding('', { message })]));
    expect(grouped(units)).toHaveLength(2);
  });

  it('names a unit under each of its findings, and one that was demoted under that reason alone', () => {
    const units = [
      unit(0, [finding('kernel 1×1'), finding('opset 7', { rule: 'opset' })]),
      unit(1, [finding('kernel 1×1')], { demoted: 'its part has 1 MaxPool' }),
    ];
    expect(grouped(units)).toEqual([
      [[0], []],
      [[0], []],
      [[1], [], 'its part has 1 MaxPool'],
    ]);
  });
});
