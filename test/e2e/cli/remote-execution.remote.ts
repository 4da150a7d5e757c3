/** Stages on a worker that others wrote: the bytes are those of this machine, for every kind of pipeline. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import { describeWithServer, missing, type RealServer, startWorker } from '../../support/remote/real-servers.js';
import { type CliBuild, givenShapesProject, type ShapesProject } from '../../support/shapes-project.js';
import { addSmallClassifier } from '../../support/small-classifier.js';

/** Digests of the published files of all stages that do not measure. */
function exactFiles(project: ShapesProject): Readonly<Record<string, string>> {
  const root = project.path('artifacts');
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile() && entry.name !== '.tanren');
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
      .filter(path => !/(^|\/)(bench|report)\//.test(path))
      .map(path => [path, digestBytes(readFileSync(join(root, path)))]),
  );
}

describeWithServer(missing.worker)("stages on Bazel's remote worker", () => {
  let server: RealServer;
  let projects: ShapesProject[];
  beforeAll(async () => {
    server = await startWorker();
    projects = [];
  });
  afterAll(async () => {
    for (const project of projects ?? []) project.remove();
    await server?.stop();
  });

  it.each([
    ['of Mask R-CNN', 'pipeline.yaml'],
    ['of YOLACT', 'pipelines/yolact-shapes.yaml'],
    ['of a classifier', 'classifier.yaml'],
  ])('give the bytes of this machine: the pipeline %s', async (_name, file) => {
    const [here, there] = [givenShapesProject(3), givenShapesProject(3)];
    projects.push(here, there);
    for (const project of [here, there]) await addSmallClassifier(project.path('.'));
    const local = here.build('-f', file);
    expect(failures(local)).toEqual([]);
    const remote = there.build('-f', file, '--remote-cache', `grpc://127.0.0.1:${server.ports[0]}`, '--executor', 'remote');
    expect(failures(remote)).toEqual([]);
    expect(remote.executed).toEqual(local.executed);
    expect(exactFiles(there)).toEqual(exactFiles(here));
    const logs = readdirSync(there.path('cache/logs'), { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.log'));
    const textOf = (name: string): string => readFileSync(join(there.path('cache/logs'), name), 'utf8');
    // A stage runs there whole, or has all its parts from there; one that measures stays, and has a log only if it has something to say.
    const isFromThere = (name: string): boolean =>
      /ran on a remote worker|, (\d+) computed, \1 of them on remote workers/.test(textOf(name));
    const measures = (name: string): boolean => /(^|\/)bench\.log$/.test(name);
    expect(logs.filter(name => isFromThere(name) === measures(name))).toEqual([]);
  });
});

function failures({ stages, text }: CliBuild): readonly string[] {
  const failed = [...stages.values()].filter(({ outcome }) => outcome.kind !== 'executed');
  return failed.length === 0 && stages.size > 0
    ? []
    : [text, ...failed.map(({ stage, outcome }) => `${stage}: ${JSON.stringify(outcome)}`)];
}
