/** The channels of a value as pictures, the chosen one large with its difference and histogram. */
import { useMemo, useState } from 'preact/hooks';
import { formatNumber } from '../../../report/numbers.js';
import type { TensorView } from '../../model/tensor-view.js';
import { setQuery, usePlace } from '../api/router.js';
import { Select } from '../parts/select.js';
import { ChannelPicture } from './channel-picture.js';
import { channelOf, decodeFloats, extentOf, gridOf, rankChannels, subtract } from './tensor-data.js';
import { TensorHistogram } from './tensor-histogram.js';

interface PicturesProps {
  readonly view: TensorView;
  readonly names: readonly [string, string];
}

/** More pictures at once take the browser seconds. */
const FIRST_CHANNELS = 64;

export function TensorPictures({ view, names }: PicturesProps) {
  const { query } = usePlace();
  const [count, setCount] = useState(FIRST_CHANNELS);
  const grid = gridOf(view.dims);
  const own = useMemo(() => decodeFloats(view.own.base64), [view]);
  const other = useMemo(() => (view.other === undefined ? undefined : decodeFloats(view.other.base64)), [view]);
  const difference = useMemo(() => (other === undefined ? undefined : subtract(own, other)), [own, other]);
  const row = clampTo(query.row, grid.rows);
  const order = useMemo(
    () => (difference === undefined ? Array.from({ length: grid.channels }, (_, index) => index) : rankChannels(difference, grid, row)),
    [difference, row],
  );
  const channel = query.channel === undefined ? (order[0] ?? 0) : clampTo(query.channel, grid.channels);
  const most = useMemo(() => largest(own), [own]);
  const mostOfDifference = useMemo(() => (difference === undefined ? 0 : largest(difference)), [difference]);
  const fullColor = difference === undefined ? most : mostOfDifference;
  if (own.length === 0) return null;
  const sides = [
    { name: names[0], data: own, most },
    ...(other === undefined || difference === undefined
      ? []
      : [
          { name: names[1], data: other, most },
          { name: 'difference', data: difference, most: mostOfDifference },
        ]),
  ];
  return (
    <>
      {grid.rows > 1 && (
        <div class="tools">
          <Select
            label="Row"
            value={String(row)}
            choices={Array.from({ length: grid.rows }, (_, index) => String(index))}
            pick={one => setQuery({ row: one, channel: undefined }, 'replace')}
          />
        </div>
      )}
      <h2>
        Channel {channel} of {grid.channels}
      </h2>
      <div class="channels large">
        {sides.map(({ name, data, most: full }) => {
          const picture = channelOf(data, grid, row, channel);
          const { min, max, mean } = extentOf(picture);
          return (
            <figure key={name} class="figure">
              <ChannelPicture
                class="channel large"
                data={picture}
                width={grid.width}
                height={grid.height}
                most={full}
                label={`${name}, channel ${channel}: ${formatNumber(min)} to ${formatNumber(max)}`}
              />
              <figcaption>
                <b>{name}</b>: {formatNumber(min)} … {formatNumber(max)}, mean {formatNumber(mean)}
              </figcaption>
            </figure>
          );
        })}
      </div>
      <TensorHistogram
        own={channelOf(own, grid, row, channel)}
        other={other === undefined ? undefined : channelOf(other, grid, row, channel)}
        names={names}
      />
      {grid.channels > 1 && (
        <section>
          <h2>All channels</h2>
          <p class="soft">
            {difference === undefined ? 'In their order.' : 'The largest difference first; each picture is the difference.'} Blue is below
            zero, orange above; a full color is {formatNumber(fullColor)}.
          </p>
          <div class="channels">
            {order.slice(0, count).map(index => (
              <button
                type="button"
                key={index}
                aria-pressed={index === channel}
                onClick={() => setQuery({ channel: String(index) }, 'replace')}
              >
                <ChannelPicture
                  data={channelOf(difference ?? own, grid, row, index)}
                  width={grid.width}
                  height={grid.height}
                  most={fullColor}
                  label={`channel ${index}`}
                />
                {index}
              </button>
            ))}
          </div>
          {count < grid.channels && (
            <button type="button" onClick={() => setCount(count + FIRST_CHANNELS)}>
              Show more of {grid.channels}
            </button>
          )}
        </section>
      )}
    </>
  );
}

function largest(data: Float32Array): number {
  const { min, max } = extentOf(data);
  return Math.max(Math.abs(min), Math.abs(max));
}

function clampTo(text: string | undefined, count: number): number {
  const index = Math.floor(Number(text ?? 0));
  return Number.isFinite(index) ? Math.max(0, Math.min(count - 1, index)) : 0;
}
