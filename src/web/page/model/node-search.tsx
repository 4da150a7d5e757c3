/** Search of nodes and values by name or operator. */
import { useMemo, useState } from 'preact/hooks';
import type { ModelView } from '../../../onnx/describe/model-view.js';
import { plainText } from '../parts/text.js';

const MOST_FOUND = 30;

export function NodeSearch({ model, show }: { readonly model: ModelView; readonly show: (id: string) => void }) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = useMemo(
    () =>
      wanted === '' ? [] : model.nodes.filter(({ id, op, outputs }) => `${id} ${op} ${outputs.join(' ')}`.toLowerCase().includes(wanted)),
    [model, wanted],
  );
  return (
    <div class="search">
      <label>
        <span class="sr">Search nodes and values</span>
        <input
          type="search"
          placeholder="search a node, value or operator"
          value={text}
          onInput={event => setText(event.currentTarget.value)}
          onKeyDown={event => {
            if (event.key === 'Enter' && found[0] !== undefined) show(found[0].id);
            if (event.key === 'Escape') setText('');
          }}
        />
      </label>
      {wanted !== '' && (
        <ul class="found">
          {found.length === 0 && <li class="soft">nothing has this name</li>}
          {found.slice(0, MOST_FOUND).map(({ id, op }) => (
            <li key={id}>
              <button
                type="button"
                class="as-link"
                onClick={() => {
                  show(id);
                  setText('');
                }}
              >
                {plainText(id)}
              </button>{' '}
              <span class="soft">{op}</span>
            </li>
          ))}
          {found.length > MOST_FOUND && <li class="soft">and {found.length - MOST_FOUND} more</li>}
        </ul>
      )}
    </div>
  );
}
