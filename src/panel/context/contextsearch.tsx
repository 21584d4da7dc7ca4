import * as React from 'react';

import { fullCount } from '../../ui/texts/formats';
import { usePanel } from '../../ui/services';
import type { IContextPages } from './usecontext';
import { pageOf } from './usecontext';

/**
 * Looks for a text in all messages, and goes from one that has it to the next.
 */
export function ContextSearch({
  seen,
  onFind,
  onAim
}: {
  seen: IContextPages;

  /**
   * Told what is looked for; nothing when the field was emptied.
   */
  onFind: (text: string) => void;

  /**
   * Told which message to bring into sight.
   */
  onAim: (index: number) => void;
}): JSX.Element {
  const { trans } = usePanel();
  const { found, isBusy } = seen;
  const [text, setText] = React.useState('');
  const [at, setAt] = React.useState(0);
  const find = async () => {
    const wanted = text.trim();
    onFind(wanted);
    setAt(0);
    const places = await seen.find(wanted);
    if (places?.length) {
      onAim(places[0]);
    }
  };
  const step = async (by: 1 | -1) => {
    if (!found?.length || isBusy) {
      return;
    }
    const next = (at + by + found.length) % found.length;
    setAt(next);
    if (pageOf(found[next]) !== seen.request?.first) {
      await seen.goTo(pageOf(found[next]));
    }
    onAim(found[next]);
  };
  return (
    <form
      className="jp-hdspAgent-context-search"
      role="search"
      onSubmit={event => {
        event.preventDefault();
        void find();
      }}
    >
      <input
        type="search"
        dir="auto"
        className="jp-hdspAgent-input"
        aria-label={trans.__('Search the request')}
        placeholder={trans.__('Search the request')}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          if (target.value === '') {
            onFind('');
            void seen.find('');
          }
        }}
      />
      <button type="submit" className="jp-hdspAgent-button">
        {trans.__('Search')}
      </button>
      <span role="status">
        {found !== null &&
          (found.length === 0
            ? trans.__('No message matches.')
            : trans._n(
                '%1 message matches; this is number %2.',
                '%1 messages match; this is number %2.',
                found.length,
                fullCount(Math.min(at, found.length - 1) + 1)
              ))}
      </span>
      {found !== null && found.length > 1 && (
        <>
          <button
            type="button"
            className="jp-hdspAgent-button"
            onClick={() => void step(-1)}
          >
            {trans.__('Previous')}
          </button>
          <button
            type="button"
            className="jp-hdspAgent-button"
            onClick={() => void step(1)}
          >
            {trans.__('Next')}
          </button>
        </>
      )}
    </form>
  );
}
