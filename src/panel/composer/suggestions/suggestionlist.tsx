import { StringExt } from '@lumino/algorithm';
import * as React from 'react';

import { errorText } from '../../../errors';
import { onPress } from '../../../ui/onpress';
import { usePanel } from '../../../ui/services';
import type { IRanked } from './suggestions';
import type { ISuggestionsView } from './usesuggestions';

/**
 * How high, in pixels, the list may be in however low a panel.
 */
const LEAST_ROOM = 100;

/**
 * The suggestions above the field. The focus stays in the field.
 */
export function SuggestionList({
  view
}: {
  readonly view: ISuggestionsView;
}): JSX.Element {
  const { node, trans } = usePanel();
  const { id, kind, items, active, isLoading, error, onPick, onPoint } = view;
  const ref = React.useRef<HTMLDivElement>(null);
  const list = React.useRef<HTMLUListElement>(null);
  React.useLayoutEffect(() => {
    // All of it within the panel, however low that is.
    const bottom = ref.current?.getBoundingClientRect().bottom ?? 0;
    const room = Math.max(
      LEAST_ROOM,
      bottom - node.getBoundingClientRect().top - 8
    );
    ref.current?.style.setProperty('--jp-hdsp-agent-room', `${room}px`);
  }, [node]);
  React.useEffect(() => {
    const option = list.current?.querySelector('[aria-selected="true"]');
    option?.scrollIntoView?.({ block: 'nearest' });
  }, [active]);
  return (
    <div ref={ref} className="jp-hdspAgent-suggestions">
      {items.length > 0 && (
        <ul
          ref={list}
          id={id}
          role="listbox"
          aria-label={
            kind === 'command'
              ? trans.__('Commands and modes')
              : trans.__('What you can point at')
          }
        >
          {items.map((item, index) => (
            <Option
              key={item.suggestion.key}
              id={`${id}-${index}`}
              item={item}
              isActive={index === active}
              onPick={() => onPick(index)}
              onPoint={() => onPoint(index)}
            />
          ))}
        </ul>
      )}
      {error ? (
        <p className="jp-hdspAgent-composer-error" role="alert">
          {errorText(trans, error)}
        </p>
      ) : (
        <p className="jp-hdspAgent-suggestions-count" role="status">
          {items.length > 0
            ? trans._n('%1 suggestion', '%1 suggestions', items.length)
            : isLoading
              ? trans.__('Searching…')
              : trans.__('Nothing found')}
        </p>
      )}
    </div>
  );
}

/**
 * One suggestion.
 */
function Option({
  id,
  item: { suggestion, found },
  isActive,
  onPick,
  onPoint
}: {
  readonly id: string;
  readonly item: IRanked;
  readonly isActive: boolean;
  readonly onPick: () => void;
  readonly onPoint: () => void;
}): JSX.Element {
  const { icon: Icon, label, detail } = suggestion;
  return (
    <li
      id={id}
      role="option"
      aria-selected={isActive}
      className="jp-hdspAgent-suggestion"
      title={detail ? `${label}\n${detail}` : label}
      onMouseMove={onPoint}
      {...onPress(onPick)}
    >
      <Icon.react
        tag="span"
        aria-hidden="true"
        className="jp-hdspAgent-suggestion-icon"
      />
      <span className="jp-hdspAgent-suggestion-label">
        {StringExt.highlight<React.ReactNode>(label, found, part => (
          <mark key={part}>{part}</mark>
        )).map((part, index) => (
          <React.Fragment key={index}>{part}</React.Fragment>
        ))}
      </span>{' '}
      {detail && (
        <span className="jp-hdspAgent-suggestion-detail">{detail}</span>
      )}
    </li>
  );
}
