/** One image twice, with the detections of each side, or under a slider; the ground truth over both. */
import { useState } from 'preact/hooks';
import { setQuery, usePlace } from '../api/router.js';
import { Link } from '../parts/link.js';
import { Empty } from '../parts/notice.js';
import { plainText } from '../parts/text.js';
import { type NumberPlace, placeNumber } from './number-place.js';
import { type NameOf, ObjectTable, TONES } from './object-table.js';
import { usePicture } from './picture.js';
import { type Category, type ImageMasks, type ImageRow, type MatchedObject, OBJECT_KINDS, type ObjectBox } from './result-types.js';
import { nameOf as nameOfSide, type ResultSide } from './use-results.js';

interface PairProps {
  readonly row: ImageRow;
  /** 1 for objects that the filters keep. */
  readonly kept: Uint8Array;
  readonly masks: ImageMasks | undefined;
  readonly masksProblem: string | undefined;
  readonly hasMasks: boolean;
  readonly sides: readonly [ResultSide, ResultSide];
  readonly categories: readonly Category[];
  readonly isLive: boolean;
}

export function ImagePair({ row, kept, masks, masksProblem, hasMasks, sides, categories, isLive }: PairProps) {
  const { query } = usePlace();
  const [left, right] = sides;
  const names = [nameOfSide(left), nameOfSide(right)] as const;
  const picture = usePicture(right.stage.id, right.images, row.file);
  const [at, setAt] = useState(50);
  const [withTruth, isSlider] = [query.truth === 'on', query.as === 'slider'];
  const shown = row.objects.map((object, index) => ({ object, index })).filter(({ object }) => kept[object.index] === 1);
  const nameOf = namesOf(categories);
  const countOf = (which: 'left' | 'right'): number => shown.filter(({ object }) => object[which] !== undefined).length;
  const canvas = (which: 'left' | 'right') => (
    <Overlay
      row={row}
      boxes={shown.map(({ object, index }, place) => ({ object, place, box: object[which], mask: masks?.[which][index] }))}
      truth={withTruth ? row.truth.map((box, index) => ({ box, mask: masks?.truth[index] })) : []}
      picture={picture.address}
      nameOf={nameOf}
      label={`${which === 'left' ? names[0] : names[1]}: ${row.file}`}
    />
  );
  return (
    <div class="pair">
      <div class="tools">
        <b class="one-line">{plainText(row.file)}</b>
        <label>
          <input type="checkbox" checked={withTruth} onChange={() => setQuery({ truth: withTruth ? undefined : 'on' }, 'replace')} /> ground
          truth
        </label>
        {hasMasks && (
          <label>
            <input
              type="checkbox"
              checked={query.masks !== 'off'}
              onChange={() => setQuery({ masks: query.masks === 'off' ? undefined : 'off' }, 'replace')}
            />{' '}
            masks
          </label>
        )}
        <label>
          <input type="checkbox" checked={isSlider} onChange={() => setQuery({ as: isSlider ? undefined : 'slider' }, 'replace')} /> slider
        </label>
        {isLive && row.file !== '' && (
          <Link view="tensor" query={{ of: right.stage.id, image: row.file }}>
            its tensors
          </Link>
        )}
      </div>
      {picture.problem !== undefined && <Empty>The image cannot be shown: {picture.problem}. Its objects are drawn without it.</Empty>}
      {masksProblem !== undefined && (
        <Empty>
          {masks === undefined ? 'The' : 'Some'} masks cannot be shown: {plainText(masksProblem)}.
        </Empty>
      )}
      {isSlider ? (
        <>
          <div class="slide">
            {canvas('left')}
            <div class="over" style={{ clipPath: `inset(0 0 0 ${at}%)` }}>
              {canvas('right')}
            </div>
          </div>
          <label class="tools">
            {names[0]}
            <input
              type="range"
              min="0"
              max="100"
              value={at}
              aria-label="Place of the slider"
              onInput={event => setAt(Number(event.currentTarget.value))}
            />
            {names[1]}
          </label>
        </>
      ) : (
        <div class="two">
          {(['left', 'right'] as const).map((which, index) => (
            <figure key={which}>
              {canvas(which)}
              <figcaption>
                {names[index]}: {countOf(which)}
              </figcaption>
            </figure>
          ))}
        </div>
      )}
      <p class="soft legend">
        {OBJECT_KINDS.map(kind => (
          <>
            <span class={TONES[kind]}>▭ {kind}</span>{' '}
          </>
        ))}
        {withTruth && <span>▭ ground truth, dashed</span>}
        {shown.length > 0 && shown.length <= MOST_NUMBERED && ' An object has one number in both pictures and below.'}
      </p>
      <ObjectTable shown={shown.map(({ object }) => object)} nameOf={nameOf} />
    </div>
  );
}

/** More numbers than these would hide the picture. */
const MOST_NUMBERED = 60;

interface OverlayProps {
  readonly row: ImageRow;
  readonly boxes: readonly {
    readonly object: MatchedObject;
    /** In the table of the objects. */
    readonly place: number;
    readonly box: ObjectBox | undefined;
    readonly mask: string | undefined;
  }[];
  readonly truth: readonly { readonly box: ObjectBox; readonly mask: string | undefined }[];
  readonly picture: string | undefined;
  readonly nameOf: NameOf;
  readonly label: string;
}

function Overlay({ row: { width, height }, boxes, truth, picture, nameOf, label }: OverlayProps) {
  const line = Math.max(0.6, Math.max(width, height) / 320);
  return (
    <svg
      class="overlay"
      viewBox={`0 0 ${width || 1} ${height || 1}`}
      role="img"
      aria-label={`${label}, ${boxes.filter(({ box }) => box !== undefined).length} objects`}
    >
      <rect class="ground" width={width} height={height} />
      {picture !== undefined && <image href={picture} width={width} height={height} />}
      {truth.map(({ box, mask }, index) => (
        <g key={`t${index}`}>
          {mask !== undefined && <path class="mask truth" d={mask} fill-rule="evenodd" stroke-width={line / 2} />}
          <rect class="truth" {...placeOf(box)} stroke-width={line}>
            <title>{`ground truth: ${nameOf(box)}${box.crowd ? ', crowd' : ''}`}</title>
          </rect>
        </g>
      ))}
      {boxes.map(
        ({ object, place, box, mask }, index) =>
          box !== undefined && (
            <g key={index}>
              {mask !== undefined && <path class={`mask ${object.kind}`} d={mask} fill-rule="evenodd" stroke-width={line / 2} />}
              <rect class={`object ${object.kind}`} {...placeOf(box)} stroke-width={line}>
                <title>{`${place + 1}: ${nameOf(box)} ${box.score.toFixed(3)}, ${object.kind}${object.iou === undefined ? '' : `, IoU ${object.iou.toFixed(3)}`}`}</title>
              </rect>
              {boxes.length <= MOST_NUMBERED && (
                <Numbered number={place + 1} at={placeNumber(place + 1, box.box, { width, height }, line)} />
              )}
            </g>
          ),
      )}
    </svg>
  );
}

function Numbered({ number, at: { x, y, size } }: { readonly number: number; readonly at: NumberPlace }) {
  return (
    <text class="number" x={x} y={y} font-size={size} stroke-width={size / 4}>
      {number}
    </text>
  );
}

function placeOf({ box: [x, y, width, height] }: ObjectBox) {
  return { x, y, width, height };
}

function namesOf(categories: readonly Category[]): NameOf {
  const names = new Map(categories.map(({ id, name }) => [id, plainText(name)]));
  return box => (box === undefined ? '' : (names.get(box.category) ?? `class ${box.category}`));
}
