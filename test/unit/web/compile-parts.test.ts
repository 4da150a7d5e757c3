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
