import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { IconButton } from '../../../ui/controls/iconbutton';
import type { IDraft } from '../../../state/panel/panelstate';
import { usePanel } from '../../../ui/services';

/**
 * What goes along with what is typed; nothing when nothing does.
 */
export function DraftChips({
  draft,
  onChange
}: {
  readonly draft: IDraft;
  readonly onChange: (change: Partial<IDraft>) => void;
}): JSX.Element | null {
  const { trans } = usePanel();
  const { attachments, images } = draft;
  if (attachments.length + images.length === 0) {
    return null;
  }
  return (
    <ul className="jp-hdspAgent-chips" aria-label={trans.__('Attachments')}>
      {attachments.map((attachment, index) => (
        <li
          key={`${attachment.kind}:${attachment.path}:${attachment.cellId}:${index}`}
          className="jp-hdspAgent-chip"
          title={`${attachment.label}\n${attachment.path}`}
        >
          <span className="jp-hdspAgent-chip-label">{attachment.label}</span>
          <IconButton
            icon={closeIcon}
            label={trans.__('Remove %1', attachment.label)}
            onClick={() =>
              onChange({ attachments: Private.without(attachments, index) })
            }
          />
        </li>
      ))}
      {images.map((image, index) => {
        const label = trans.__('Image %1', index + 1);
        return (
          <li key={index} className="jp-hdspAgent-chip">
            <img className="jp-hdspAgent-chip-image" src={image} alt={label} />
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
    </ul>
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function without<T>(items: readonly T[], index: number): T[] {
    return items.filter((_, other) => other !== index);
  }
}
