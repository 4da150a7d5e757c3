/** Models, sketches, detections and JSON reports of all kinds of pipelines are those recorded with an earlier version. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Json } from '../../src/base/json.js';
import { computePlatformClass } from '../../src/runtime/platform/platform-class.js';
import { type ArtifactRecord, type PipelineRecord, RECORD_FILE, RECORDED, recordPipeline } from '../support/artifact-record.js';
import { differences, readRenamedFields, withPresentNames } from '../support/renamed-fields.js';
import { DIST, PROJECT } from '../support/shapes-project.js';

const record = JSON.parse(gunzipSync(readFileSync(RECORD_FILE)).toString()) as ArtifactRecord;

/** Stages that run no model, and read only what such stages made: equal on every platform. */
const WITHOUT_INFERENCE: Readonly<Record<string, RegExp>> = {
  maskrcnn: /^(export|parts)\//,
  maskscoring: /^(export|export-concat|parts)\//,
  yolact: /^export\//,
  'maskrcnn-coco': /^(export|export-published|parts|parts-published)\//,
  'yolact-coco': /^export\//,
};

/** Stage ids of the recorded pipelines → plugin. */
const pluginOf = (path: string): string => {
  const stage = path.split(/[@/]/)[0] ?? '';
  const plugins: Readonly<Record<string, string>> = {
    parts: 'split',
    'parts-published': 'split',
    'parts-with-host-models': 'split',
    detector: 'describe',
    presets: 'quantize',
    ranges: 'quantize',
    classes: 'evaluate-classes',
  };
  return plugins[stage] ?? stage.replace(/-(split|quantize|float|int8|published|concat|exactly|ort|classifier)$/, '');
};

/** Members that lists of reports gained since the recording; without them the lists are compared entry by entry. */
const ADDED_SINCE: Readonly<Record<string, readonly Json[]>> = {
  // Types whose output keeps the parameters of its input: they add no scale of their own.
  opTypes: ['GatherElements', 'TopK'],
  // Outputs of branches that depend on no input are initializers.
  changed: ['1698', '2274', '2916'],
};

/** Digests of files that changed on purpose since the recording. */
const CHANGED_SINCE: Readonly<Record<string, string>> = {
  // Three nodes fewer: the same outputs.
  'import/model.onnx': 'c769ce5f4505398579dd58cb050b1a929b52558492f7146cccab75f26a5e5b77',
  'parts-with-host-models/rest.onnx': 'd5aed0a384406e10aff0fd12ae1b3b4a063a642d7ae317a25148bbd585ca0f82',
  'parts-with-host-models/to_box.onnx': '3cd0777d79eeacc878d03b64d666d8da71e93a2c49bea84608bfdd57e7c1a668',
  'parts-with-host-models/to_mask.onnx': '1f5de0a6de3f59c4d97d786deed84a8cf6d06db2fdfa23071b83e029811a566b',
};

function withoutAdditions(report: Json): Json {
  if (Array.isArray(report)) return report.map(withoutAdditions);
  if (report === null || typeof report !== 'object') return report;
  return Object.fromEntries(
    Object.entries(report).map(([field, value]) => {
      const added = ADDED_SINCE[field];
      const kept = added !== undefined && Array.isArray(value) ? value.filter(entry => !added.includes(entry)) : value;
      return [field, withoutAdditions(kept)];
    }),
  );
}

let platform: string;
beforeAll(async () => {
  platform = await computePlatformClass();
  if (platform !== record.platform) {
    process.stderr.write(
      `\nWARNING: artifact bytes were recorded on platform class "${record.platform}"; this machine is "${platform}".\n` +
        'Only what is computed without ONNX Runtime is compared here: models of `export`, and of `split` after it.\n',
    );
  }
});

/** Those that this machine must reproduce. */
function comparable<T>(name: string, entries: Readonly<Record<string, T>>): readonly (readonly [string, T])[] {
  const independent = WITHOUT_INFERENCE[name];
  return Object.entries(entries).filter(([path]) => platform === record.platform || independent?.test(path) === true);
}

function changedFiles(name: string, recorded: PipelineRecord, found: PipelineRecord): readonly string[] {
  return comparable(name, recorded.files).flatMap(([path, digest]) => {
    const now = found.files[path];
    return now === (CHANGED_SINCE[path] ?? digest) ? [] : [`${path}: ${now === undefined ? 'missing' : 'other bytes'}`];
  });
}

function changedReports(name: string, recorded: PipelineRecord, found: PipelineRecord): readonly string[] {
  const renamed = readRenamedFields();
  return comparable(name, recorded.reports).flatMap(([path, report]) => {
    const now = found.reports[path];
    return differences(withPresentNames(report, pluginOf(path), renamed), now && withoutAdditions(now), path);
  });
}

describe(`artifacts equal those of commit ${record.commit}`, () => {
  it('every recorded pipeline is built', () => {
    expect(Object.keys(record.pipelines)).toEqual(Object.keys(RECORDED));
  });

  it.each(Object.entries(record.pipelines))('%s: files have equal bytes, and reports equal fields', async (name, recorded) => {
    const found = await recordPipeline(name, DIST);
    expect(found.inputs).toEqual(recorded.inputs);
    expect(changedFiles(name, recorded, found)).toEqual([]);
    expect(changedReports(name, recorded, found)).toEqual([]);
  });

  it('docs/formats.md lists every renamed field', () => {
    const page = readFileSync(join(PROJECT, 'docs/formats.md'), 'utf8');
    const missing = readRenamedFields().filter(({ from, to }) => !page.includes(`| \`${from}\` | \`${to}\` |`));
    expect(missing).toEqual([]);
  });
});
