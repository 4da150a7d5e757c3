/** The versions in docs/formats.md are those that the code writes, and no format of the code is missing there. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Digest } from '../../src/base/digest.js';
import { digestBytes } from '../../src/base/digest.js';
import { makeManifest } from '../../src/engine/action/manifest.js';
import { PIPELINE_STRUCTURE } from '../../src/engine/config/pipeline-schema.js';
import { writeBaseline } from '../../src/engine/insight/history/baseline.js';
import { appendRun } from '../../src/engine/insight/history/history-file.js';
import { encodeLock } from '../../src/engine/lockfile/encode-lock.js';
import { encodeNoOpRecord } from '../../src/engine/noop/no-op-record.js';
import { encodeRecord } from '../../src/engine/store/action-records.js';
import { ARCHIVE_HEADER } from '../../src/engine/store/archive/archive-format.js';
import { NO_STAMPS } from '../../src/engine/store/files/recorded-stamps.js';
import { encodeTree } from '../../src/engine/store/files/tree.js';
import { encodePartList } from '../../src/engine/store/part-list.js';
import { ARTIFACTS_MARKER, openPublishedNames } from '../../src/engine/store/published-names.js';
import { openStateWriter, parseState } from '../../src/engine/store/state-log.js';
import { encodeModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { PROTOCOL_VERSION } from '../../src/runtime/external/messages.js';
import { BENCH_FORMAT } from '../../src/runtime/measure/bench-report.js';
import { BOARD_REPORT_FORMAT } from '../../src/target/board/board-report.js';
import { BUNDLE_DETECTOR_FORMAT, BUNDLE_FORMAT } from '../../src/target/bundle/write-bundle.js';
import { PROFILE_FORMAT } from '../../src/target/profile/profile.js';
import { COMPILE_REPORT_FORMAT } from '../../src/target/report/compile-report.js';
import { runOf } from '../support/run-of.js';
import { findProject } from './import-graph.js';

const project = findProject(dirname(fileURLToPath(import.meta.url)));
const page = readFileSync(join(project, 'docs/formats.md'), 'utf8');

/** The cells of each table's row, by the format that it is about. */
const rows = new Map(
  page
    .split('\n')
    .filter(line => /^\| (?!format |---)/.test(line))
    .map(line => line.split('|').map(cell => cell.trim()))
    .map(([, format = '', ...cells]) => [format, cells.join(' | ')]),
);

const digest: Digest = digestBytes('');
const facts = { plugin: 'x', version: 1, code: digest, params: {}, inputs: {}, tools: {}, env: {}, secrets: {} };
const absent = { platformClass: undefined, host: undefined, build: undefined, device: undefined };

const folder = mkdtempSync(join(tmpdir(), 'tanren-formats-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What the code writes to a file, by the writer itself. */
function written(write: (path: string) => void, path = join(folder, 'file')): string {
  rmSync(path, { force: true });
  write(path);
  return readFileSync(path, 'utf8');
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

/** The member of a JSON document as the page writes it. */
const member = (text: string, name: string): string => {
  const found = new RegExp(`"${name}": ?(\\d+|"[^"]*")`).exec(text)?.[1];
  return `${name}: ${found}`;
};

const VERSIONS: readonly (readonly [format: string, version: () => string])[] = [
  ['folder document', () => member(encodeTree([]), 'format')],
  ['list of parts', () => member(encodePartList([]), 'format')],
  ['action record', () => member(encodeRecord({ manifest: {}, results: [] }), 'format')],
  ['action manifest', () => member(JSON.stringify(makeManifest({ ...facts, ...absent })), 'format')],
  [
    'state',
    () =>
      firstLine(
        written(path => {
          const writer = openStateWriter(path, parseState(''));
          writer.noteDevice(digest, { identity: {}, seen: '' });
          writer.flush();
        }),
      ),
  ],
  [
    'no-op record',
    () => {
      const report = { pipeline: 'x', stages: 0, metrics: [], gates: [] };
      const record = { request: '', programs: [], environment: [], platform: null, host: null, stamps: NO_STAMPS, report };
      return /^tanren-\S+ \d+/.exec(encodeNoOpRecord(record))?.[0] ?? '';
    },
  ],
  ['history', () => firstLine(written(path => void appendRun(path, runOf())))],
  ['published names', () => firstLine(written(() => openPublishedNames(folder).add('stage', ['out']), join(folder, ARTIFACTS_MARKER)))],
  ['pipeline file', () => `version: ${pipelineVersion()}`],
  ['lock file', () => /^version: \d+$/m.exec(encodeLock({ stages: new Map() }))?.[0] ?? ''],
  [
    'baseline',
    () => {
      const snapshot = { name: 'x', params: {}, stages: new Map(), others: 'absent', notes: [] } as const;
      return member(
        written(path => writeBaseline(path, snapshot)),
        'format',
      );
    },
  ],
  ['archive', () => firstLine(ARCHIVE_HEADER)],
  ['calibration sketches', () => member(JSON.stringify(encodeModelSketches({ model: digest, samples: 0, values: new Map() })), 'version')],
  ['figures of a measurement', () => BENCH_FORMAT],
  ['report of a compilation', () => COMPILE_REPORT_FORMAT],
  ['report of a run on a board', () => BOARD_REPORT_FORMAT],
  ['bundle manifest', () => BUNDLE_FORMAT],
  ['detector of a bundle', () => BUNDLE_DETECTOR_FORMAT],
  ['target profile', () => PROFILE_FORMAT],
  ['runner protocol', () => `protocol: ${PROTOCOL_VERSION}`],
];

function pipelineVersion(): string {
  return JSON.stringify(PIPELINE_STRUCTURE).replace(/^.*?"version":\{"const":(\d+).*$/s, '$1');
}

it.each(VERSIONS)('the page has the version of the %s that the code writes', (format, version) => {
  expect(version()).toMatch(/\d/);
  expect(rows.get(format)).toContain(`\`${version()}\``);
});

/** Modules under src and stages. */
function listModules(): readonly string[] {
  return ['src', 'stages'].flatMap(top =>
    readdirSync(join(project, top), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts') && !name.includes('generated'))
      .map(name => join(project, top, name)),
  );
}

it('every format name in the code is on the page', () => {
  const named = listModules().flatMap(path =>
    [...readFileSync(path, 'utf8').matchAll(/format: '(tanren-[a-z-]+)'|['"`](tanren-[a-z-]+)[ /](?:\d|\$)/g)].map(
      match => `${match[1] ?? match[2]} of ${relative(project, path)}`,
    ),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(name => !page.includes(name.split(' ')[0] ?? name))).toEqual([]);
});

it('every document with a number for its format is one of the page', () => {
  const found = listModules().flatMap(path =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter(line => /\bformat: \d|\bformat: literal\(\d/.test(line) && !/readonly/.test(line))
      .map(() => relative(project, path)),
  );
  // What else is digested with a format, and never read back: keys of vendor caches; the key of a part is the manifest of an action.
  const others = ['src/target/bundle/cache-key.ts', 'src/engine/execute/parts/part-service.ts'];
  const listed = [
    'folder document',
    'list of parts',
    'action record',
    'action manifest',
    'baseline',
    'action document',
    'execution document',
    'parts document',
    'results of parts',
    'index of packs',
    'edits of the page',
  ];
  expect(listed.filter(name => !rows.get(name)?.includes('format: 1'))).toEqual([]);
  expect([...new Set(found)].filter(path => !others.includes(path)).length).toBe(listed.length);
});
