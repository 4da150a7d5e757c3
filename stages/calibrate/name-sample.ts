/** Which image was it? An error on the way names the sample. */
import { isCodedError } from '../../src/base/coded-error.js';
import type { ListedImage } from '../../src/detection/image-list.js';
import { StageError } from '../../src/stage/stage-error.js';

/** Runs `work`; errors that input can cause get the image in front of their message and keep their code. */
export async function nameSample(image: ListedImage, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isCodedError(error)) throw error;
    throw new StageError(error.code, `image ${image.id} (${image.fileName}): ${error.message}`, {
      details: error.details,
      cause: error,
      ...(error.help === undefined ? {} : { help: error.help }),
    });
  }
}
