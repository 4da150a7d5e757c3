/** One image twice, with the detections of each side, or under a slider; the ground truth over both. */
import { useEffect, useState } from 'preact/hooks';
import { address, getBytes, request } from '../api/client.js';
import { setQuery, usePlace } from '../api/router.js';
import { asApiError } from '../api/use-data.js';
import { Empty } from '../parts/notice.js';
import { type PlainColumn, PlainTable } from '../parts/plain-table.js';
import { plainText } from '../parts/text.js';
import { type ImageRow, type MatchedObject, OBJECT_KINDS, type ObjectBox, type ObjectKind } from './result-types.js';
import type { ResultSide } from './use-results.js';

interface PairProps {
  readonly row: ImageRow;
  readonly shown: readonly MatchedObject[];
  readonly side: ResultSide;
  readonly names: readonly [string, string];
  readonly categories: Readonly<Record<string, string>>;
}

export function ImagePair({ row, shown, side, names, categories }: PairProps) {
  const { query } = usePlace();
  const picture = usePicture(side, row.file);
  const [at, setAt] = useState(50);
  const withTruth = query.truth === 'on';
  const isSlider = query.as === 'slider';
  const canvas = (which: 'left' | 'right') => (
    <Overlay
      row={row}
      boxes={shown.map(object => ({ object, box: object[which] }))}
      truth={withTruth ? row.truth : []}
      picture={picture.address}
      categories={categories}
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
        <label>
          <input type="checkbox" checked={isSlider} onChange={() => setQuery({ as: isSlider ? undefined : 'slider' }, 'replace')} /> slider
        </label>
      </div>
      {picture.problem !== undefined && <Empty>The image cannot be shown: {picture.problem}. Its objects are drawn without it.</Empty>}
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
              <figcaption>{names[index]}</figcaption>
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
      </p>
      <ObjectList shown={shown} categories={categories} />
    </div>
  );
}

interface OverlayProps {
  readonly row: ImageRow;
  readonly boxes: readonly { readonly object: MatchedObject; readonly box: ObjectBox | undefined }[];
  readonly truth: readonly ObjectBox[];
  readonly picture: string | undefined;
  readonly categories: Readonly<Record<string, string>>;
  readonly label: string;
}

function Overlay({ row: { width, height }, boxes, truth, picture, categories, label }: OverlayProps) {
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
      {truth.map((box, index) => (
        <rect key={`t${index}`} class="truth" {...placeOf(box)} stroke-width={line}>
          <title>{`ground truth: ${nameOf(box, categories)}${box.crowd ? ', crowd' : ''}`}</title>
        </rect>
      ))}
      {boxes.map(
        ({ object, box }, index) =>
          box !== undefined && (
            <rect key={index} class={`object ${object.kind}`} {...placeOf(box)} stroke-width={line}>
              <title>{`${nameOf(box, categories)} ${box.score.toFixed(3)}, ${object.kind}${object.iou === undefined ? '' : `, IoU ${object.iou.toFixed(3)}`}`}</title>
            </rect>
          ),
      )}
    </svg>
  );
}

const TONES: Readonly<Record<ObjectKind, string>> = { lost: 'bad', found: 'warn', changed: 'violet', equal: 'good' };

function placeOf({ box: [x, y, width, height] }: ObjectBox) {
  return { x, y, width, height };
}

const MOST_LISTED = 100;

const SCORES = (
  [
    ['Left', ({ left }) => left?.score],
    ['Right', ({ right }) => right?.score],
    ['IoU', ({ iou }) => iou],
  ] as readonly (readonly [string, (object: MatchedObject) => number | undefined])[]
).map(([title, of]): PlainColumn<MatchedObject> => ({ title, look: 'n', cell: object => of(object)?.toFixed(3) ?? '–' }));

function ObjectList({
  shown,
  categories,
}: {
  readonly shown: readonly MatchedObject[];
  readonly categories: Readonly<Record<string, string>>;
}) {
  const columns: readonly PlainColumn<MatchedObject>[] = [
    { title: 'Object', cell: ({ left, right }) => nameOf(left ?? right, categories) },
    { title: 'What', cell: ({ kind }) => <span class={TONES[kind]}>{kind}</span> },
    ...SCORES,
  ];
  return (
    <PlainTable
      label="Objects of the image"
      class="short"
      rows={shown.slice(0, MOST_LISTED)}
      columns={columns}
      keyOf={(_, index) => index}
    />
  );
}

function nameOf(box: ObjectBox | undefined, categories: Readonly<Record<string, string>>): string {
  return box === undefined ? '' : plainText(categories[box.category] ?? `class ${box.category}`);
}

/** A blob of the image: an address with the token would stay in the browser's history. */
function usePicture(
  { stage, images }: ResultSide,
  file: string,
): { readonly address: string | undefined; readonly problem: string | undefined } {
  const [found, setFound] = useState<{ readonly address: string | undefined; readonly problem: string | undefined }>({
    address: undefined,
    problem: undefined,
  });
  useEffect(() => {
    const controller = new AbortController();
    let own: string | undefined;
    const at = address('input', { stage: stage.id, name: images, path: file });
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
  }, [stage.id, images, file]);
  return found;
}

async function fetchPicture(at: string, signal: AbortSignal): Promise<Blob> {
  const response = await request(at, { signal });
  const type = response.headers.get('content-type') ?? '';
  if (response.ok && type.startsWith('image/')) return response.blob();
  await getBytes(at, signal);
  throw new Error('browsers cannot show its format');
}
