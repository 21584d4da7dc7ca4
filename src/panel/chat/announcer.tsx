import * as React from 'react';

import type { ClineMessage } from '../../generated/wire';
import type { AgentStore } from '../../state/store';
import { usePanel } from '../../ui/services';
import type { Announcements } from '../../ui/announcements';
import { useRenderContext } from '../../ui/rendercontext';
import { spokenError, spokenText } from '../../ui/texts/spokentext';

/**
 * How much of an answer is read aloud; the whole of it is in its row.
 */
const LONGEST = 500;

/**
 * How long words of a button stay, in milliseconds: only then are the same
 * words read again.
 */
const STAYS_FOR = 2_000;

/**
 * Tells screen readers what was said: answers once they are whole, errors, and
 * what buttons have done.
 */
export function Announcer(): JSX.Element {
  const { store, trans } = usePanel();
  const { announcements } = useRenderContext();
  const [said, setSaid] = React.useState('');
  const [failed, setFailed] = React.useState('');
  React.useEffect(
    () =>
      onFinished(store, message => {
        const text = message.text ?? '';
        if (ERRORS.has(message.ask ?? message.say ?? '')) {
          setFailed(trans.__('Error: %1', spokenError(text).slice(0, LONGEST)));
        } else {
          setSaid(spokenText(text).slice(0, LONGEST));
        }
      }),
    [store, trans]
  );
  React.useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hear = (_: Announcements, words: string) => {
      setSaid(words);
      clearTimeout(timer);
      timer = setTimeout(
        () => setSaid(said => (said === words ? '' : said)),
        STAYS_FOR
      );
    };
    announcements.said.connect(hear);
    return () => {
      announcements.said.disconnect(hear);
      clearTimeout(timer);
    };
  }, [announcements]);
  return (
    <>
      <div className="jp-hdspAgent-announcement" role="status">
        {said}
      </div>
      <div className="jp-hdspAgent-announcement" role="alert">
        {failed}
      </div>
    </>
  );
}

const ANSWERS: ReadonlySet<string> = new Set(['text', 'completion_result']);
const ERRORS: ReadonlySet<string> = new Set([
  'error',
  'diff_error',
  'rooignore_error',
  'api_req_failed',
  'condense_context_error'
]);

/**
 * Hear of messages that are whole and were not, or not there, when this began.
 */
function onFinished(
  store: AgentStore,
  listener: (message: ClineMessage) => void
): () => void {
  let newest = store.order.at(-1) ?? 0;
  const growing = new Map<number, () => void>();
  const look = (ts: number) => {
    const message = store.message(ts);
    if (message?.partial) {
      if (!growing.has(ts)) {
        growing.set(
          ts,
          store.subscribe(ts, () => look(ts))
        );
      }
      return;
    }
    growing.get(ts)?.();
    growing.delete(ts);
    const kind = message?.ask ?? message?.say ?? '';
    if (message?.text && (ANSWERS.has(kind) || ERRORS.has(kind))) {
      listener(message);
    }
  };
  const onChanged = () => {
    const before = newest;
    newest = store.order.at(-1) ?? 0;
    for (let at = store.order.length - 1; at >= 0; at--) {
      if (store.order[at] <= before) {
        break;
      }
      look(store.order[at]);
    }
  };
  if (store.message(newest)?.partial) {
    look(newest);
  }
  store.changed.connect(onChanged);
  return () => {
    store.changed.disconnect(onChanged);
    growing.forEach(end => end());
  };
}
