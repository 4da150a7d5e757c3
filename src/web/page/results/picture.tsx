/** An image of a data set. */
import { useEffect, useState } from 'preact/hooks';
import { address, getBytes, request } from '../api/client.js';
import { asApiError } from '../api/use-data.js';
import { Empty } from '../parts/notice.js';
import { plainText } from '../parts/text.js';

export interface LoadedPicture {
  readonly address: string | undefined;
  /** Why it cannot be shown. */
  readonly problem: string | undefined;
}

interface PictureProps {
  readonly stage: string;
  /** Name of the input with the folder of images. */
  readonly images: string;
  readonly file: string;
}

export function Picture({ stage, images, file }: PictureProps) {
  const { address: source, problem } = usePicture(stage, images, file);
  return (
    <figure>
      {problem !== undefined ? (
        <Empty>The image cannot be shown: {plainText(problem)}.</Empty>
      ) : source === undefined ? (
        <Empty>Loading the image …</Empty>
      ) : (
        <img class="picture" src={source} alt={plainText(file)} />
      )}
      <figcaption>{plainText(file)}</figcaption>
    </figure>
  );
}

/** A blob of the image: an address with the token would stay in the browser's history. */
export function usePicture(stage: string, images: string, file: string): LoadedPicture {
  const [found, setFound] = useState<LoadedPicture>({ address: undefined, problem: undefined });
  useEffect(() => {
    const controller = new AbortController();
    let own: string | undefined;
    const at = address('input', { stage, name: images, path: file });
    fetchPicture(at, controller.signal).then(
      blob => {
        own = URL.createObjectURL(blob);
        setFound({ address: own, problem: undefined });
      },
      (error: unknown) => !controller.signal.aborted && setFound({ address: undefined, problem: asApiError(error).message }),
    );
    return () => {
      controller.abort();
      if (own !== undefined) URL.revokeObjectURL(own);
    };
  }, [stage, images, file]);
  return found;
}

async function fetchPicture(at: string, signal: AbortSignal): Promise<Blob> {
  const response = await request(at, { signal });
  const type = response.headers.get('content-type') ?? '';
  if (response.ok && type.startsWith('image/')) return response.blob();
  await getBytes(at, signal);
  throw new Error('browsers cannot show its format');
}
