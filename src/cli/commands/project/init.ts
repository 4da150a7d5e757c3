/** `tanren init`: writes a pipeline file that builds at once, from a template with its example data, or drafted for a model. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { isSystemCallError } from '../../../base/system-error.js';
import { listImageFolder } from '../../../detection/data/image-list.js';
import { findProjectFolder } from '../../../engine/config/project-folder.js';
import { EngineError, messageOf } from '../../../engine/model/engine-error.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { draftPipeline } from './init/draft-pipeline.js';
import { copyExamples, examplesIn, readTemplate, STAND_INS, schemaComment } from './init/example-files.js';
import type { GivenSize } from './init/image-size.js';
import { readFacts } from './init/model-facts.js';
import { type StatedInput, statedInputs } from './init/stated-inputs.js';
import { isExample, type Template } from './init/templates.js';

export interface InitOptions {
  readonly file: string;
  readonly template?: Template;
  readonly model?: string;
  readonly images?: string;
  readonly annotations?: string;
  readonly recover: boolean;
  readonly size?: GivenSize;
  readonly input: readonly StatedInput[];
}

/** Creates the folder if it is missing. Never overwrites a file. */
export async function runInit(options: InitOptions): Promise<ExitCode> {
  const console = makeConsole({ json: false });
  const { file } = options;
  try {
    if (existsSync(file)) throw new EngineError('file-exists', `${file} exists already`, { help: 'name another file with -f' });
    const projectFolder = findProjectFolder(resolve(file));
    const { text, description, places, warnings } = await compose(options, projectFolder);
    const copied = write(file, text, places, projectFolder);
    console.line(`wrote ${file}: ${description}`);
    for (const warning of warnings) console.line(`warning: ${warning}`);
    if (copied.length > 0) console.line(`copied ${copied.join(', ')}`);
    console.line(`next: tanren build${file === 'pipeline.yaml' ? '' : ` -f ${file}`}; then name your own data under "sources"`);
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, { json: false }, EXIT.usage);
  }
}

/** Images that calibrate. */
const MOST_SAMPLES = 16;

interface Composed {
  readonly text: string;
  /** Of the pipeline, for the user. */
  readonly description: string;
  /** Files and folders of the package that it names. */
  readonly places: readonly string[];
  readonly warnings: readonly string[];
}

/** @throws EngineError `model-needed`, `image-size`; OnnxError if the file is no model. */
async function compose(
  { file, template, model, images, annotations, recover, size, input }: InitOptions,
  projectFolder: string,
): Promise<Composed> {
  const head = schemaComment(file, projectFolder);
  if (recover && model === undefined) throw new EngineError('model-needed', '--recover needs --model', { help: 'name the model' });
  if (annotations !== undefined && (model === undefined || images === undefined))
    throw new EngineError('model-needed', '--annotations needs --model and --images', {
      help: 'name the model and the folder of the annotated images',
    });
  if (size !== undefined && model === undefined) throw new EngineError('model-needed', '--size needs --model', { help: 'name the model' });
  if (input.length > 0 && model === undefined) throw new EngineError('model-needed', '--input needs --model', { help: 'name the model' });
  if (model === undefined) {
    if (template !== undefined && !isExample(template))
      throw new EngineError('model-needed', `the template ${template} needs a model`, {
        help: `name your ONNX file: tanren init --template ${template} --model model.onnx`,
      });
    const text = head + readTemplate(template, file);
    return { text, description: 'a trained example detector and its images', places: examplesIn(text), warnings: [] };
  }
  if (isExample(template))
    throw new EngineError('model-needed', `the template ${template} takes a checkpoint, not an ONNX file`, {
      help: 'leave out --template to draft a pipeline for the model, or --model to start from the example',
    });
  const fromProject = (path: string): string => relative(projectFolder, resolve(path)).replaceAll('\\', '/') || '.';
  const facts = await readFacts(model, { size, inputs: statedInputs(input) });
  const draft = draftPipeline({
    facts,
    model: fromProject(model),
    images: images === undefined ? STAND_INS : fromProject(images),
    imagesAre: images === undefined ? 'stand-ins' : 'own',
    kind: template ?? 'found',
    head,
    ...(images === undefined ? {} : { samples: await countSamples(images) }),
    ...(annotations === undefined ? {} : { annotations: fromProject(annotations) }),
    ...(recover ? { accuracy: 'recover' as const } : {}),
  });
  if (annotations !== undefined && !draft.isDetector)
    throw new EngineError('no-detector', `${model} is ${draft.what}: COCO annotations need a detector whose outputs are recognized`, {
      help: 'leave out --annotations; docs/stages/describe.md says how outputs are read, and docs/stages/evaluate-classes.md how labels of a classifier are given',
    });
  const places = images === undefined && draft.needsImages ? [STAND_INS] : [];
  return { text: draft.text, description: draft.what, places, warnings: facts.inputWarnings };
}

/** How many images can calibrate: those of the folder, up to the usual number; the usual number if the folder has none yet. */
async function countSamples(folder: string): Promise<number> {
  const found = existsSync(folder) ? (await listImageFolder(folder)).length : 0;
  return found === 0 ? MOST_SAMPLES : Math.min(MOST_SAMPLES, found);
}

/** @throws EngineError `not-writable`. */
function write(file: string, text: string, places: readonly string[], projectFolder: string): readonly string[] {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const copied = copyExamples(places, projectFolder);
    writeFileSync(file, text, { flag: 'wx' });
    return copied;
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    throw new EngineError('not-writable', `${file}: ${messageOf(error)}`, { cause: error });
  }
}
