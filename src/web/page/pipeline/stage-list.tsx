/** The stages as a table. */
import { formatDuration } from '../../../base/text/format.js';
import type { PipelineView } from '../../views/pipeline-view.js';
import { FigureText } from '../parts/figure.js';
import { Scroll } from '../parts/scroll.js';
import { lookOf } from '../parts/states.js';
import { plainText } from '../parts/text.js';
import type { StageState } from './stage-states.js';

interface ListProps {
  readonly pipeline: PipelineView;
  readonly states: ReadonlyMap<string, StageState>;
  readonly picked: string | undefined;
  readonly pick: (stage: string) => void;
}

export function StageList({ pipeline, states, picked, pick }: ListProps) {
  return (
    <Scroll label="Stages">
      <table>
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col">State</th>
            <th scope="col" class="n">
              Run
            </th>
            <th scope="col">Figures</th>
            <th scope="col">Gates</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {pipeline.stages.map(({ id, state, durationMs, figures, gates, why }) => {
            const look = lookOf(states.get(id)?.state ?? state);
            return (
              <tr key={id} class={picked === id ? 'picked' : ''}>
                <th scope="row">
                  <button type="button" class="as-link" aria-pressed={picked === id} onClick={() => pick(id)}>
                    {id}
                  </button>
                </th>
                <td class={look.tone}>
                  {look.sign} {look.word}
                </td>
                <td class="n">{durationMs === undefined ? '' : formatDuration(durationMs)}</td>
                <td>
                  {figures.map(({ label, value, previous, unit }) => (
                    <div key={label}>
                      <span class="soft">{label}</span>{' '}
                      <FigureText value={value} {...(previous === undefined ? {} : { previous })} unit={unit} />
                    </div>
                  ))}
                </td>
                <td>
                  {gates.map(({ metric, bound, verdict }) => (
                    <div key={`${metric} ${bound}`} class={verdict === 'missed' ? 'bad' : verdict === 'met' ? 'good' : 'mute'}>
                      {verdict === 'missed' ? '✗' : verdict === 'met' ? '✓' : '·'} {metric} {bound}
                    </div>
                  ))}
                </td>
                <td class="t soft">{plainText(why.slice(0, 2).join('; '))}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}
