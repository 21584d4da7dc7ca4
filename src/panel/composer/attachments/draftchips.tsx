import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { IconButton } from '../../../ui/controls/iconbutton';
import { isComposing } from '../../../ui/inputmethod';
import type { IAttachment, IDraft } from '../../../state/panel/panelstate';
import { usePanel } from '../../../ui/services';
import { fullCount } from '../../../ui/texts/formats';
import { plainName } from '../../../ui/texts/visibletext';
import { tokensOf } from './tokens';

/**
 * How long, in milliseconds, one points at a chip before it shows what is in it,
 * and how long that stays when one points elsewhere.
 */
const OPENS_AFTER = 300;
const CLOSES_AFTER = 200;

/**
 * How much of a content is shown.
 */
const MOST_SHOWN = 4_000;

/**
 * The id of what shows a chip's content.
 */
const PREVIEW_ID = 'jp-hdspAgent-chip-preview';

/**
 * What goes along with what is typed; nothing when nothing does. Whoever points
 * at a chip, or presses it, sees what is in it.
 */
export function DraftChips({
  draft,
  onChange
}: {
  readonly draft: IDraft;
  readonly onChange: (change: Partial<IDraft>) => void;
}): JSX.Element | null {
  const { node, trans } = usePanel();
  const { attachments, images } = draft;
  const { shown, hover, leave, toggle, close } = usePreview(node);
  // Another one may be at its place now.
  React.useEffect(close, [attachments, images, close]);
  if (attachments.length + images.length === 0) {
    return null;
  }
  const tokens = attachments.reduce(
    (sum, { content }) => sum + tokensOf(content ?? ''),
    0
  );
  const isReadLater = attachments.some(({ content }) => content === null);
  const chipOf = (key: string, label: string, face: React.ReactNode) => (
    <button
      type="button"
      className="jp-hdspAgent-chip-label"
      aria-expanded={shown === key}
      aria-controls={shown === key ? PREVIEW_ID : undefined}
      aria-label={trans.__('Show %1', label)}
      onClick={() => toggle(key)}
    >
      {face}
    </button>
  );
  const pointing = (key: string) => ({
    onMouseEnter: () => hover(key),
    onMouseLeave: leave
  });
  return (
    <>
      <ul className="jp-hdspAgent-chips" aria-label={trans.__('Attachments')}>
        {attachments.map((attachment, index) => {
          const key = `attachment:${index}`;
          const label = plainName(attachment.label);
          return (
            <li key={key} className="jp-hdspAgent-chip" {...pointing(key)}>
              {chipOf(key, label, label)}
              <IconButton
                icon={closeIcon}
                label={trans.__('Remove %1', label)}
                onClick={() =>
                  onChange({ attachments: Private.without(attachments, index) })
                }
              />
            </li>
          );
        })}
        {images.map((image, index) => {
          const key = `image:${index}`;
          const label = trans.__('Image %1', index + 1);
          return (
            <li key={key} className="jp-hdspAgent-chip" {...pointing(key)}>
              {chipOf(
                key,
                label,
                <img
                  className="jp-hdspAgent-chip-image"
                  src={image}
                  alt={label}
                  draggable={false}
                />
              )}
              <IconButton
                icon={closeIcon}
                label={trans.__('Remove %1', label)}
                onClick={() =>
                  onChange({ images: Private.without(images, index) })
                }
              />
            </li>
          );
        })}
        {tokens > 0 && (
          <li className="jp-hdspAgent-chips-cost">
            {costText(tokens, isReadLater, images.length > 0, trans)}
          </li>
        )}
      </ul>
      <Preview
        attachment={attachments.find((_, at) => shown === `attachment:${at}`)}
        image={images.findIndex((_, at) => shown === `image:${at}`)}
        images={images}
        onMouseEnter={() => shown !== null && hover(shown)}
        onMouseLeave={leave}
      />
    </>
  );
}

/**
 * How much what goes along with a message takes, as far as that is known.
 */
function costText(
  tokens: number,
  isReadLater: boolean,
  hasImages: boolean,
  trans: TranslationBundle
): string {
  const count = fullCount(tokens);
  if (isReadLater) {
    return trans._n(
      'About %2 token, plus what is read when you send',
      'About %2 tokens, plus what is read when you send',
      tokens,
      count
    );
  }
  return hasImages
    ? trans._n(
        'About %2 token, plus images',
        'About %2 tokens, plus images',
        tokens,
        count
      )
    : trans._n('About %2 token', 'About %2 tokens', tokens, count);
}

/**
 * What is in a chip, above all of them.
 */
function Preview({
  attachment,
  image,
  images,
  ...pointing
}: {
  readonly attachment?: IAttachment;

  /**
   * Which of the images; -1 for none.
   */
  readonly image: number;
  readonly images: readonly string[];
  readonly onMouseEnter: () => void;
  readonly onMouseLeave: () => void;
}): JSX.Element | null {
  const { trans } = usePanel();
  if (!attachment && image === -1) {
    return null;
  }
  const { path, content } = attachment ?? { path: '', content: null };
  const label = attachment
    ? plainName(attachment.label)
    : trans.__('Image %1', image + 1);
  const tokens = tokensOf(content ?? '');
  return (
    <div
      id={PREVIEW_ID}
      className="jp-hdspAgent-chip-preview"
      role="group"
      aria-label={label}
      // Whoever has no mouse scrolls it with the keys.
      tabIndex={0}
      {...pointing}
    >
      <p className="jp-hdspAgent-chip-preview-head">
        <span>{label}</span>
        {content !== null && (
          <span>
            {plainName(path)}
            {' · '}
            {trans._n(
              'about %2 token',
              'about %2 tokens',
              tokens,
              fullCount(tokens)
            )}
          </span>
        )}
      </p>
      {!attachment ? (
        <img src={images[image]} alt={label} />
      ) : content === null ? (
        <p>{trans.__('The agent reads this when you send the message.')}</p>
      ) : (
        <pre>
          {content.length > MOST_SHOWN
            ? `${content.slice(0, MOST_SHOWN)}…`
            : content || trans.__('(empty)')}
        </pre>
      )}
    </div>
  );
}

/**
 * Which chip shows what is in it. What is pressed stays until it is pressed again,
 * what is pointed at until one points elsewhere; Escape ends both.
 */
function usePreview(panel: HTMLElement) {
  const [shown, setShown] = React.useState<IShown | null>(null);
  const timer = React.useRef<number | undefined>(undefined);
  React.useEffect(() => () => clearTimeout(timer.current), []);
  const now = React.useCallback((next: IShown | null) => {
    clearTimeout(timer.current);
    setShown(next);
  }, []);
  const close = React.useCallback(() => now(null), [now]);
  React.useEffect(() => {
    if (shown === null) {
      return;
    }
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !isComposing(event)) {
        // Before Lab, to which it means to leave the panel.
        event.preventDefault();
        event.stopImmediatePropagation();
        const wasInside = document
          .getElementById(PREVIEW_ID)
          ?.contains(document.activeElement);
        const chip = panel.querySelector<HTMLElement>(
          `[aria-controls="${PREVIEW_ID}"]`
        );
        close();
        if (wasInside) {
          chip?.focus();
        }
      }
    };
    window.addEventListener('keydown', onKeyDown, true);
    return () => window.removeEventListener('keydown', onKeyDown, true);
  }, [shown, close, panel]);
  const later = (next: IShown | null, milliseconds: number) => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setShown(next), milliseconds);
  };
  return {
    shown: shown?.key ?? null,
    hover: (key: string) => {
      if (shown?.key === key) {
        clearTimeout(timer.current);
      } else if (!shown?.isPinned) {
        later({ key, isPinned: false }, OPENS_AFTER);
      }
    },
    leave: () => {
      if (shown?.isPinned) {
        clearTimeout(timer.current);
      } else {
        later(null, CLOSES_AFTER);
      }
    },
    toggle: (key: string) =>
      now(
        shown?.key === key && shown.isPinned ? null : { key, isPinned: true }
      ),
    close
  };
}

/**
 * The chip whose content is shown, and whether it was pressed.
 */
interface IShown {
  readonly key: string;
  readonly isPinned: boolean;
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function without<T>(items: readonly T[], index: number): T[] {
    return items.filter((_, other) => other !== index);
  }
}
