/** The place of a changed object in its image, once for each side: what is there, dashed, and what the side has for it. */
import type { ChangeRow, Located } from '../../../detection/coco/change-list.js';
import { usePicture } from './picture.js';
import type { ResultSide } from './use-results.js';

interface CutOutProps {
  readonly row: ChangeRow;
  readonly names: readonly [string, string];
  readonly side: ResultSide;
}

export function CutOuts({ row, names, side }: CutOutProps) {
  const picture = usePicture(side.stage.id, side.images, row.image.file);
  const { left, top, width, height } = partOf(row);
  const line = Math.max(width, height) / 110;
  return (
    <div class="cut-outs">
      {([row.before, row.after] as const).map((seen, index) => (
        <svg
          key={index}
          class="overlay"
          viewBox={`${left} ${top} ${width} ${height}`}
          role="img"
          aria-label={`${names[index]}: ${seen?.lacks === 'nothing' ? 'detected' : 'not detected'}`}
        >
          <rect class="ground" x={left} y={top} width={width} height={height} />
          {picture.address !== undefined && <image href={picture.address} width={row.image.width} height={row.image.height} />}
          {row.truth !== undefined && <Place of={row.truth} look="truth" line={line} />}
          {seen !== undefined && (
            <Place of={seen} look={row.truth === undefined || seen.lacks !== 'nothing' ? 'lost' : 'seen'} line={line} />
          )}
        </svg>
      ))}
    </div>
  );
}

function Place({ of: { box, outline }, look, line }: { readonly of: Located; readonly look: string; readonly line: number }) {
  const [x, y, width, height] = box;
  return (
    <>
      {outline !== undefined && <path class={`mask ${look}`} d={outline} fill-rule="evenodd" stroke-width={line / 2} />}
      <rect class={`object ${look}`} x={x} y={y} width={width} height={height} stroke-width={line} />
    </>
  );
}

/** All that the change is about, with a third of its size around it, in the image. */
function partOf({ image, truth, before, after }: ChangeRow) {
  const boxes = [truth, before, after].flatMap(one => (one === undefined ? [] : [one.box]));
  const [left, top] = [Math.min(...boxes.map(([x]) => x)), Math.min(...boxes.map(([, y]) => y))];
  const [right, bottom] = [Math.max(...boxes.map(([x, , width]) => x + width)), Math.max(...boxes.map(([, y, , height]) => y + height))];
  const margin = Math.max(8, Math.max(right - left, bottom - top) / 3);
  const clip = (value: number, most: number): number => Math.min(Math.max(value, 0), Math.max(1, most));
  const from = { left: clip(left - margin, image.width - 1), top: clip(top - margin, image.height - 1) };
  const width = Math.max(1, clip(right + margin, image.width) - from.left);
  return { ...from, width, height: Math.max(1, clip(bottom + margin, image.height) - from.top) };
}
