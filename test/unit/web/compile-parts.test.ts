/** What the view "Compile" shows of a model: parts, batch sizes, memory plans, and reasons. */
import { readFileSync } from 'node:fs';
import type { CompileReport } from '../../../src/target/report/compile-report.js';
import { rowsOf, textOf } from '../../support/read-markup.js';
import { loadComponent } from '../../support/render-component.js';
import { givenReportInputs } from '../../support/report-inputs.js';
import { givenFolder } from '../../support/run-stage.js';

const folder = givenFolder('compile-parts');
let model: CompileReport['models'][number];
beforeAll(async () => {
  const { compile } = await givenReportInputs(folder.path);
  [model] = JSON.parse(readFileSync(compile?.target ?? '', 'utf8')).models;
});

it('memory has arena, bound and gap, the tensors of the peak, and units beyond on-chip memory', async () => {
  const render = await loadComponent('compile/memory-facts.js', 'MemoryFacts');
  const markup = render({ memory: model.parts[0]?.memory, units: model.units });
  expect(textOf(markup)).toMatch(/^Arena 256 B Bound 192 B Gap 64 B Sum 320 B Most is live at /);
  expect(textOf(markup)).toContain('The 2 tensors that make the peak, of 2');
  expect(rowsOf(markup, 'Tensors of the peak').map(row => row.slice(1))).toEqual([
    ['100', '0'],
    ['64', '128'],
  ]);
  expect(textOf(markup)).toContain('1 of 8 units are larger than on-chip memory (100 B)');
  expect(rowsOf(markup, 'Units beyond on-chip memory').map(row => row.slice(1))).toEqual([
    ['Conv', '300 B', '2 of 5 rows, weights read for each', '400 B', '100 B'],
  ]);
});

it('memory of all parts is one table', async () => {
  const render = await loadComponent('compile/memory-table.js', 'MemoryTable');
  const rows = rowsOf(render({ report: { models: [model] }, level: 2 }), 'Memory plans of all parts');
  expect(rows.map(row => row.slice(0, 5))).toEqual([['backbone', '256 B', '192 B', '64 B', '320 B']]);
  expect(rows[0]?.[6]).toBe('1 of 8 units (100 B)');
  expect(render({ report: { models: [{ ...model, parts: [] }] }, level: 2 })).toBe('');
});

it('units are a strip in the order of the graph, whose heights say what its colors say', async () => {
  const render = await loadComponent('compile/device-strip.js', 'DeviceStrip');
  const unit = (name: string, device: 'npu' | 'cpu', edge: boolean, part: number) => ({ name, device, edge, part });
  const units = [unit('q', 'npu', true, 0), unit('a', 'npu', false, 0), unit('b', 'npu', false, 0), unit('c', 'cpu', false, 1)];
  const markup = render({ model: { name: 'backbone', units } });
  expect(textOf(markup)).toContain('2 on the NPU ▄ 1 on the CPU ▁ 1 Q or DQ at an end');
  const runs = [...markup.matchAll(/<rect class="(\w+)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="([\d.]+)"><title>([^<]+)/g)];
  expect(runs.map(([, look, x, , height]) => [look, Number(x), Number(height)])).toEqual([
    ['edge', 0, expect.closeTo(6.8, 5)],
    ['npu', 250, 34],
    ['cpu', 750, 17],
  ]);
  expect(runs[1]?.[5]).toBe('2 units, a … b: on the NPU');
});

it('a unit is bound by compute, by memory, or by a time per layer where its estimate is more than twice both', async () => {
  const render = await loadComponent('compile/roofline.js', 'Roofline');
  const unit = (id: number, ms: number, computeMs: number, memoryMs: number) => ({
    ...model.units[0],
    id,
    name: `unit${id}`,
    macs: 1000,
    weightBytes: 10,
    inputBytes: 10,
    outputBytes: 10,
    estimate: { ms, lowMs: ms, highMs: ms, bound: computeMs > memoryMs ? 'compute' : 'memory', computeMs, memoryMs },
  });
  const markup = render({
    model: { ...model, units: [unit(0, 2, 1, 0.5), unit(1, 2, 0.5, 1), unit(2, 2.1, 1, 1)] },
    picked: undefined,
    pick: () => undefined,
  });
  expect([...markup.matchAll(/class="dot (\w+)" d="([^"]+)"/g)].map(([, bound]) => bound)).toEqual(['compute', 'memory', 'layer']);
  expect(new Set([...markup.matchAll(/class="dot \w+" d="([^"]+)"/g)].map(([, shape]) => shape)).size).toBe(3);
  expect(markup).toContain('bound by time per layer');
});

it('batch sizes are estimated with their padded RoIs, and the best one is marked', async () => {
  const render = await loadComponent('compile/batches.js', 'BatchesTable');
  const rows = rowsOf(render({ model }), 'Estimated milliseconds per image by batch size of backbone');
  expect(rows.map(([batch, calls, padded, , , , mark]) => [batch, calls, padded, mark])).toEqual([
    ['1', '16.0', '0.5', ''],
    ['4', '4.0', '2.0', '✓ best'],
    ['16', '1.0', '8.0', ''],
  ]);
  expect(render({ model: { ...model, estimate: { ...model.estimate, batches: undefined } } })).toBe('');
});

it('parts have their device, what they move, and the parts before them', async () => {
  const render = await loadComponent('compile/parts-table.js', 'PartsTable');
  expect(rowsOf(render({ parts: model.parts }), 'Parts')).toEqual([
    ['00.x', 'NPU', '3', '1', '1', '1 B', '10 B', ''],
    ['01.x', 'CPU', '3', '1', '1', '1 B', '10 B', '00.x'],
  ]);
});

it('reasons state rule, severity, present value and limit', async () => {
  const render = await loadComponent('compile/reasons.js', 'Reasons');
  const text = textOf(render({ units: [{ ...model.units[1], demoted: undefined }], findings: model.findings, pick: () => undefined }));
  expect(text).toContain('Not on the NPU');
  expect(text).toMatch(/refused kernel : .* Limit: documented for others/);
  expect(text).toContain('somebody saw it on a board');
});

it('one call over time has the Q and DQ at the ends of an NPU part in a row of the host', async () => {
  const render = await loadComponent('compile/gantt.js', 'Gantt');
  const unit = (id: number, device: 'npu' | 'cpu', edge: boolean) => ({ ...model.units[0], id, device, edge, part: 0, callMs: 1 });
  const units = [unit(0, 'npu', true), unit(1, 'npu', false), unit(2, 'cpu', false)];
  const parts = [{ ...model.parts[0], index: 0, units: [0, 1, 2] }];
  const markup = render({ model: { ...model, units, parts }, picked: undefined, pick: () => undefined });
  const rows = new Map([...markup.matchAll(/<text [^>]*x="2" y="(\d+)"[^>]*>(\w+)</g)].map(([, y, name]) => [Number(y) - 15, name]));
  const places = [...markup.matchAll(/<rect class="span (\w+)[^"]*" x="[\d.]+" y="(\d+)"/g)].map(([, look, y]) => [
    look,
    rows.get(Number(y)),
  ]);
  expect(places).toEqual([
    ['host', 'host'],
    ['npu', 'NPU'],
    ['cpu', 'CPU'],
  ]);
});
