/** Runs a capture alone in this process and prints the peak resident size in kilobytes. Arguments: folder, samples. */
import { join } from 'node:path';
import { capture } from '../../stages/capture/stage.js';
import { runStage } from './run-stage.js';
import { SHAPES_FOLDER } from './shapes.js';

const [folder = '', samples = '1'] = process.argv.slice(2);
const part = (name: string): string => join(folder, `${name}.onnx`);
await runStage(capture, {
  params: { samples: Number(samples), rois: { max: 200 } },
  inputs: {
    detector: { backbone: part('backbone'), box_head: part('box_head'), mask_head: part('mask_head') },
    recipe: join(folder, 'recipe.json'),
    data: { annotations: join(SHAPES_FOLDER, 'data/instances_val.json'), images: join(SHAPES_FOLDER, 'data/val') },
  },
  folder,
});
process.stdout.write(`${process.resourceUsage().maxRSS}`);
