import * as React from 'react';

import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { AnswerTools } from '../../feedback/answertools';
import { Fold } from '../../../ui/texts/fold';
import { durationText } from '../../../ui/texts/formats';
import { GrowingText } from '../../../ui/texts/growingtext';
import { Markdown } from '../../../ui/markdown/markdown';
import { changedAtCell, EndingLine } from './ending';
import { SuggestedNote } from './notesuggestion';
import { PictureList } from './picturelist';
import { Recalled } from './recalled';
import { useElapsed } from '../../../ui/useelapsed';
import type { IRowContent } from './rowcontent';

/**
 * What the agent says.
 */
export function AnswerRow({ message }: IRowContent): JSX.Element {
  if (message.ending && message.say === 'text') {
    // Work that was stopped half-way: its text is the line in English.
    return <EndingLine ending={message.ending} />;
  }
  const text = message.text ?? '';
  return (
    <div className="jp-hdspAgent-answer">
      <Markdown text={text} isGrowing={message.partial} />
      <PictureList images={message.images} />
      {!message.partial && text && <AnswerTools message={message} />}
    </div>
  );
}

/**
 * What the agent has achieved in the end.
 */
export function ResultRow(content: IRowContent): JSX.Element {
  const { ending, noteSuggestion, partial, recalled, text, ts } =
    content.message;
  // Where no output is shown the text is the line in English.
  const isLine =
    ending &&
    (ending.state === 'not_done' || changedAtCell(ending.checks)) &&
    !text?.startsWith('```');
  return (
    <div className="jp-hdspAgent-result">
      {!isLine && <AnswerRow {...content} />}
      {ending && <EndingLine ending={ending} />}
      {!partial && recalled !== undefined && (
        <Recalled id={`${ts}:recalled`} items={recalled} />
      )}
      {noteSuggestion && <SuggestedNote ts={ts} suggestion={noteSuggestion} />}
    </div>
  );
}

/**
 * What the model thought before it spoke: folded unless the person wants to see it, with how long that took.
 */
export function ReasoningRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { store, trans } = usePanel();
  const isFolded = useStore(
    store,
    ({ state }) => state?.settings?.reasoningBlockCollapsed ?? true
  );
  const isGrowing = message.partial === true;
  const text = message.reasoning ?? message.text ?? '';
  const took = useThinkingTime(message.ts, isGrowing);
  const label =
    took === null
      ? trans.__('Thoughts')
      : isGrowing
        ? trans.__('Thinking for %1', durationText(trans, took))
        : trans.__('Thought for %1', durationText(trans, took));
  return (
    <Fold id={`${message.ts}:reasoning`} summary={label} startsOpen={!isFolded}>
      <div className="jp-hdspAgent-reasoning">
        {isGrowing ? <GrowingText text={text} /> : <Markdown text={text} />}
      </div>
    </Fold>
  );
}

/**
 * For how long the model has thought, or thought: until what it said next.
 */
function useThinkingTime(ts: number, isGrowing: boolean): number | null {
  const { store } = usePanel();
  const elapsed = useElapsed(ts, isGrowing);
  if (isGrowing) {
    return elapsed;
  }
  const index = store.order.indexOf(ts);
  const next = store.order[index + 1];
  const took = next === undefined ? null : next - ts;
  return took !== null && took < MOST ? took : null;
}

/**
 * What comes later than this was not what ended the thoughts.
 */
const MOST = 3_600_000;
