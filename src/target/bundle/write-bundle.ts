/** What does a user carry to the board? A folder with the whole model, its parts and a manifest. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestFile } from '../../base/digest.js';
import type { Model } from '../../onnx/ir/model.js';
import { writeModel } from '../../onnx/serde/model-file.js';
import type { CompileReport, PartReport } from '../compile-report.js';

export interface BundleRequest {
  /** Not yet existing. */
  readonly folder: string;
  /** Models of the report and models to write are the same, in the same order. */
  readonly report: CompileReport;
  readonly models: readonly BundleModel[];
}

export interface BundleModel {
  readonly name: string;
  /** The file of the whole QDQ model, as it came in. */
  readonly wholePath: string;
  /** In the order in which they run; values of equal name are one tensor. */
  readonly parts: readonly BundlePart[];
}

export interface BundlePart {
  readonly report: PartReport;
  readonly model: Model;
}

/** Writes `models/<name>/whole.onnx`, `models/<name>/parts/<part>.onnx` and `manifest.json`. Equal requests give equal files. */
export async function writeBundle({ folder, report, models }: BundleRequest): Promise<void> {
  const files: Record<string, string> = {};
  for (const { name, wholePath, parts } of models) {
    const modelFolder = join('models', name);
    await mkdir(join(folder, modelFolder, 'parts'), { recursive: true });
    const whole = `models/${name}/whole.onnx`;
    await copyFile(wholePath, join(folder, whole));
    files[whole] = await digestFile(join(folder, whole));
    for (const part of parts) {
      const path = `models/${name}/parts/${part.report.name}.onnx`;
      await writeModel(join(folder, path), part.model);
      files[path] = await digestFile(join(folder, path));
    }
  }
  const manifest = { format: 'tanren-bundle/1', target: report.target, files, models: report.models.map(describeModel) };
  await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest, undefined, 1)}\n`);
}

function describeModel({ name, digest, parts }: CompileReport['models'][number]) {
  return { name, digest, parts: parts.map(({ estimate: _estimate, ...part }) => part) };
}
