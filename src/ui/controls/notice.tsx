import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import {
  caretDownIcon,
  caretUpIcon,
  closeIcon,
  errorIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';

import type { Notice as ServerNotice } from '../../generated/wire';
import { noticeIcon, warningIcon } from '../icons/noticeicons';
import { usePanel } from '../services';
import { IconButton } from './iconbutton';
import { TransientNote } from './transientnote';

/**
 * Something to know, in one line: what does not fit in it is in its tooltip, and
 * unfolds. A screen reader reads all of it.
 */
export function Notice({
  level,
  text,
  textId,
  textRole,
  actions = [],
  details,
  detailsLabel,
  onDismiss,
  children,
  className = '',
  ...others
}: Notice.IProps): JSX.Element {
  const { trans } = usePanel();
  const [isOpen, setOpen] = React.useState(false);
  const line = React.useRef<HTMLParagraphElement>(null);
  const isShortened = useShortened(line, text, isOpen);
  const id = React.useId();
  const Icon = level && ICONS[level].react;
  const hasMore = isShortened || details !== undefined;
  return (
    <TransientNote
      {...others}
      goesOnAt={nextDismissal}
      className={`jp-hdspAgent-notice ${className}`}
      data-level={level}
      data-open={isOpen || undefined}
    >
      {Icon && (
        <>
          <Icon
            tag="span"
            className="jp-hdspAgent-notice-icon"
            aria-hidden="true"
          />
          <span className="jp-hdspAgent-announcement">
            {levelLabel(level, trans)}{' '}
          </span>
        </>
      )}
      <p
        ref={line}
        id={textId}
        className="jp-hdspAgent-notice-text"
        role={textRole}
        title={isOpen ? undefined : text}
        // For pointers; the button does the same.
        onClick={isShortened && !isOpen ? () => setOpen(true) : undefined}
      >
        {text}
      </p>
      {hasMore && (
        <Unfold
          label={detailsLabel}
          isOpen={isOpen}
          controls={isOpen && details !== undefined ? id : undefined}
          onToggle={() => setOpen(!isOpen)}
        />
      )}
      {isOpen && details !== undefined && (
        <div id={id} className="jp-hdspAgent-notice-details">
          {details}
        </div>
      )}
      {actions.length > 0 && (
        <span className="jp-hdspAgent-notice-actions">
          {actions.map(({ label, title, isBusy, onClick }) => (
            <button
              key={label}
              type="button"
              className="jp-hdspAgent-notice-action"
              title={title}
              aria-disabled={isBusy}
              onClick={isBusy ? undefined : onClick}
            >
              {label}
            </button>
          ))}
        </span>
      )}
      {onDismiss && (
        <IconButton
          icon={closeIcon}
          className={DISMISS}
          label={trans.__('Dismiss: %1', firstSentence(text))}
          title={trans.__('Dismiss')}
          onClick={onDismiss}
        />
      )}
      {children}
    </TransientNote>
  );
}

/**
 * Enough of a text to know it by: names of buttons that repeat all of it are
 * long to listen to.
 */
function firstSentence(text: string): string {
  return text.split(/(?<=[.?!])\s|(?<=[。？！])/, 1)[0];
}

/**
 * The namespace for `Notice` statics.
 */
export namespace Notice {
  /**
   * What a person may do about it.
   */
  export interface IAction {
    /**
     * One or two words, for there is one line.
     */
    readonly label: string;

    /**
     * What it does at more length.
     */
    readonly title?: string;
    readonly isBusy?: boolean;
    readonly onClick: () => void;
  }

  /**
   * The properties of a notice.
   */
  export interface IProps extends Omit<
    React.HTMLAttributes<HTMLDivElement>,
    'title'
  > {
    /**
     * How grave it is; without it, it only says what was done.
     */
    readonly level?: ServerNotice['level'];
    readonly text: string;

    /**
     * The id of the element that has the text.
     */
    readonly textId?: string;

    /**
     * How the text is read aloud when it comes.
     */
    readonly textRole?: 'status' | 'alert';
    readonly actions?: readonly IAction[];

    /**
     * What there is beyond the text, once it is unfolded.
     */
    readonly details?: React.ReactNode;

    /**
     * What unfolds the details shows, if not a caret.
     */
    readonly detailsLabel?: string;

    /**
     * Puts it away; what keeps the agent from working cannot be.
     */
    readonly onDismiss?: () => void;

    /**
     * What stands below the line, such as why an action failed.
     */
    readonly children?: React.ReactNode;
  }
}

/**
 * The way to put away the notice after one that was put away, or the one before
 * the last; `null` where there is no other.
 */
function nextDismissal(
  notice: HTMLElement,
  panel: HTMLElement
): HTMLElement | null {
  if (!document.activeElement?.matches(`.${DISMISS}`)) {
    return null;
  }
  const others = [...panel.querySelectorAll<HTMLElement>(`.${DISMISS}`)].filter(
    button => !notice.contains(button)
  );
  const isAfter = (button: HTMLElement) =>
    notice.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING;
  return others.find(isAfter) ?? others.at(-1) ?? null;
}

const DISMISS = 'jp-hdspAgent-notice-dismiss';

const ICONS: Readonly<Record<ServerNotice['level'], LabIcon>> = {
  info: noticeIcon,
  warning: warningIcon,
  error: errorIcon
};

function levelLabel(
  level: ServerNotice['level'],
  trans: TranslationBundle
): string {
  switch (level) {
    case 'info':
      return trans.__('Note:');
    case 'warning':
      return trans.__('Warning:');
    case 'error':
      return trans.__('Error:');
  }
}

/**
 * Shows all of a notice, and one line again.
 */
function Unfold({
  label,
  isOpen,
  controls,
  onToggle
}: {
  label: string | undefined;
  isOpen: boolean;
  controls: string | undefined;
  onToggle: () => void;
}): JSX.Element {
  const { trans } = usePanel();
  const state = { 'aria-expanded': isOpen, 'aria-controls': controls };
  return label === undefined ? (
    <IconButton
      {...state}
      icon={isOpen ? caretUpIcon : caretDownIcon}
      className="jp-hdspAgent-notice-unfold"
      label={trans.__('Full text')}
      onClick={onToggle}
    />
  ) : (
    <button
      {...state}
      type="button"
      className="jp-hdspAgent-notice-action jp-hdspAgent-notice-unfold"
      onClick={onToggle}
    >
      {label}
    </button>
  );
}

/**
 * Whether a text does not fit in its line; while it is unfolded, as before.
 */
function useShortened(
  line: React.RefObject<HTMLElement>,
  text: string,
  isOpen: boolean
): boolean {
  const [isShortened, setShortened] = React.useState(false);
  React.useLayoutEffect(() => {
    const element = line.current;
    if (element === null || isOpen) {
      return;
    }
    const measure = () =>
      setShortened(element.scrollWidth > element.clientWidth);
    measure();
    // Not every environment lays anything out.
    if (typeof ResizeObserver === 'undefined') {
      return;
    }
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [line, text, isOpen]);
  return isShortened;
}
