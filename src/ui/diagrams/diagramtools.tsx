import { searchIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { IconButton } from '../controls/iconbutton';
import { usePanel } from '../services';
import { CopyButton } from '../controls/copybutton';
import type { IDiagram } from './diagrams';
import { showDiagram } from './diagramdialog';

/**
 * The buttons of a diagram.
 */
export function DiagramTools({ diagram }: { diagram: IDiagram }): JSX.Element {
  const { trans } = usePanel();
  return (
    <div
      className="jp-hdspAgent-diagram-bar"
      role="group"
      aria-label={trans.__('Diagram')}
    >
      <CopyButton
        text={diagram.source}
        label={trans.__('Copy the source of this diagram')}
      />
      <IconButton
        icon={searchIcon}
        label={trans.__('Enlarge this diagram')}
        onClick={() => void showDiagram(diagram, trans)}
      />
    </div>
  );
}
