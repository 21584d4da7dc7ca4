import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { IconButton } from '../../../ui/controls/iconbutton';
import { isComposing } from '../../../ui/inputmethod';
import type {
  AttachmentTokensView,
  TokenCountView
} from '../../../generated/rest';
import type { IAttachment, IDraft } from '../../../state/panel/panelstate';
import { usePanel } from '../../../ui/services';
import { fullCount } from '../../../ui/texts/formats';
import { plainName } from '../../../ui/texts/visibletext';
import { useTokenCount } from './usetokencount';

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
  const counted = useTokenCount(draft);
  // Another one may be at its place now.
  React.useEffect(close, [attachments, images, close]);
  const hasChips = attachments.length + images.length > 0;
  const cost = hasChips
    ? costText(counted, trans)
    : mentionsCostText(counted, trans);
  if (!hasChips && cost === null) {
    return null;
  }
  const shownAttachment = attachments.findIndex(
    (_, at) => shown === `attachment:${at}`
  );
  const shownImage = images.findIndex((_, at) => shown === `image:${at}`);
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
        {cost !== null && <li className="jp-hdspAgent-chips-cost">{cost}</li>}
      </ul>
      <Preview
        attachment={attachments[shownAttachment]}
        image={shownImage}
        images={images}
        cost={
          counted.attachments[shownAttachment] ??
          counted.images[shownImage] ??
          null
        }
        onMouseEnter={() => shown !== null && hover(shown)}
        onMouseLeave={leave}
      />
    </>
  );
}

/**
 * How much what goes along with a message takes; `null` if nothing does.
 */
function costText(
  { total: { tokens, isExact }, isPartial }: AttachmentTokensView,
  trans: TranslationBundle
): string | null {
  const count = fullCount(tokens);
  if (tokens === 0) {
    return isPartial ? trans.__('Not counted until it is read') : null;
  }
  if (isPartial) {
    return isExact
      ? trans._n(
          '%2 token, plus what is read when you send',
          '%2 tokens, plus what is read when you send',
          tokens,
          count
        )
      : trans._n(
          'About %2 token, plus what is read when you send',
          'About %2 tokens, plus what is read when you send',
          tokens,
          count
        );
  }
  return isExact
    ? trans._n('%2 token', '%2 tokens', tokens, count)
    : trans._n('About %2 token', 'About %2 tokens', tokens, count);
}

/**
 * How much it takes where the text mentions all of it: no chips say what it is of.
 */
function mentionsCostText(
  counted: AttachmentTokensView,
  trans: TranslationBundle
): string | null {
  const { total, isPartial } = counted;
  if (total.tokens === 0) {
    return costText(counted, trans);
  }
  const tokens = chipCostText(total, trans);
  return isPartial
    ? trans.__('Goes along: %1, plus what is read when you send', tokens)
    : trans.__('Goes along: %1', tokens);
}

/**
 * How much one of them takes; `null` is not known before it is read.
 */
function chipCostText(
  cost: TokenCountView | null,
  trans: TranslationBundle
): string {
  if (cost === null) {
    return trans.__('Not counted until it is read');
  }
  const { tokens, isExact } = cost;
  const count = fullCount(tokens);
  return isExact
    ? trans._n('%2 token', '%2 tokens', tokens, count)
    : trans._n('about %2 token', 'about %2 tokens', tokens, count);
}

/**
 * What is in a chip, above all of them.
 */
function Preview({
  attachment,
  image,
  images,
  cost,
  ...pointing
}: {
  readonly attachment?: IAttachment;

  /**
   * Which of the images; -1 for none.
   */
  readonly image: number;
  readonly images: readonly string[];

  /**
   * What it takes; `null` is not known before it is read.
   */
  readonly cost: TokenCountView | null;
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
        <span>
          {content !== null && `${plainName(path)} · `}
          {chipCostText(cost, trans)}
        </span>
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
