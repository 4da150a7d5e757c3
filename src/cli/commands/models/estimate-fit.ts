/** `tanren estimate fit FILES -o PROFILE`: a profile whose estimates are fitted to measurements of a device. */
import { digestBytes } from '../../../base/digest.js';
import { isJsonObject, type Json } from '../../../base/json.js';
import { listOwnPoints, type OwnPoints } from '../../../target/estimate/fit/own-points.js';
import { recalibrate } from '../../../target/estimate/fit/recalibrate.js';
import { chooseTarget } from '../../../target/profile/choose-target.js';
import type { CompileReport, TargetIdentity } from '../../../target/report/compile-report.js';
import { TargetError } from '../../../target/report/target-error.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { writeFiles } from '../../process/write-files.js';
import { formatFit } from '../../render/estimate-report.js';
import { makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { type EstimateFile, readEstimateFile } from './estimate-files.js';
import { checkMeasuredDevice } from './measured-device.js';
import { readOwnProfile } from './own-profile.js';

export interface EstimateFitOptions {
  readonly json: boolean;
  /** Gets the fitted constants; read first if it exists. */
  readonly output?: string;
}

export async function runEstimateFit(paths: readonly string[], options: EstimateFitOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  try {
    const files: EstimateFile[] = [];
    for (const path of paths) files.push(await readEstimateFile(path));
    const identity = identityOf(files);
    const profile = await readProfileOf(identity, options.output);
    const known = listDevices(profile);
    for (const file of files) if (file.kind === 'bench') checkMeasuredDevice(file, identity.device, known);
    const { points, unused } = collectPoints(files);
    if (points.length === 0)
      throw new TargetError('estimate-unmatched', 'no measured time belongs to a compiled model', {
        details: unused.map(({ model, why }) => `${model}: ${why}`),
        help: 'name the compile report first, then the measurements of the same models',
      });
    const digest = digestBytes(files.map(file => (file.kind === 'bench' ? digestBytes(file.bytes) : '')).join('\n'));
    const fitted = recalibrate({ profile, identity, points, digest });
    const { output } = options;
    if (output !== undefined) {
      const text = `${JSON.stringify(fitted.profile, undefined, 2)}\n`;
      await writeFiles([{ path: output, write: handle => handle.writeFile(text) }]);
    }
    const { profile: _profile, fit, ...rest } = fitted;
    if (options.json) console.json({ identity, ...rest, constants: fit.constants, releases: Object.fromEntries(fit.releases), unused });
    else for (const line of formatFit(fitted, { identity, unused, output, style: console.style })) console.line(line);
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
}

/** Each measurement belongs to the compile report that was named last before it. */
function collectPoints(files: readonly EstimateFile[]): OwnPoints {
  let compiled: CompileReport | undefined;
  const all: OwnPoints[] = [];
  for (const file of files) {
    if (file.kind === 'compile') {
      compiled = file.report;
      continue;
    }
    if (compiled === undefined)
      throw new TargetError('estimate-unmatched', `${file.path} is named before a compile report`, {
        help: 'name the report of the stage `compile` whose models were measured first',
      });
    all.push(listOwnPoints(compiled, file.report, file.path));
  }
  return { points: all.flatMap(({ points }) => points), unused: all.flatMap(({ unused }) => unused) };
}

/** All compile reports are for one target. */
function identityOf(files: readonly EstimateFile[]): TargetIdentity {
  const identities = files.flatMap(file => (file.kind === 'compile' ? [file.report.target] : []));
  const [first] = identities;
  if (first === undefined || !files.some(({ kind }) => kind === 'bench'))
    throw new TargetError('estimate-unmatched', 'a fit takes at least one compile report and one measurement', {
      help: 'tanren estimate fit artifacts/compile/report.json measured.json -o my-board.json',
    });
  const other = identities.find(
    ({ profile, device, dtype }) => profile !== first.profile || device !== first.device || dtype !== first.dtype,
  );
  if (other !== undefined)
    throw new TargetError(
      'estimate-unmatched',
      `the compile reports are for ${first.device} (${first.dtype}) and ${other.device} (${other.dtype})`,
      {
        help: 'fit one device and data type at a time',
      },
    );
  return first;
}

/** @throws TargetError `estimate-unmatched` for another profile, or a data type that is no integer type. */
async function readProfileOf(identity: TargetIdentity, path: string | undefined): Promise<Json> {
  const profile = await readOwnProfile(path, identity.profile);
  const target = chooseTarget(profile, { device: identity.device, dtype: identity.dtype, version: identity.version });
  if (target.identity.profile !== identity.profile)
    throw new TargetError(
      'estimate-unmatched',
      `${path} is the profile "${target.identity.profile}"; the models were compiled for "${identity.profile}"`,
      {
        help: 'name another output file',
      },
    );
  if (target.dtype.form === 'float')
    throw new TargetError(
      'estimate-unmatched',
      `data type ${identity.dtype} takes float models, and points of integer types cannot be fitted with it`,
      {
        help: 'fit with the measurements of a quantized model',
      },
    );
  return profile;
}

function listDevices(profile: Json): readonly string[] {
  const devices = isJsonObject(profile) ? profile.devices : undefined;
  return isJsonObject(devices) ? Object.keys(devices) : [];
}
