import { Dialog, ReactWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { drawDialogBody } from '../drawdialogbody';
import { percentText } from '../texts/formats';
import type { IDiagram } from './diagrams';

/**
 * How large a diagram can be made; at 1 all of it is in sight.
 */
const LARGEST = 8;

/**
 * Show a diagram as large as the page allows, and larger.
 */
export async function showDiagram(
  { picture, description }: Pick<IDiagram, 'picture' | 'description'>,
  trans: TranslationBundle
): Promise<void> {
  const body = ReactWidget.create(
    <Diagram picture={picture} description={description} trans={trans} />
  );
  drawDialogBody(body);
  const dialog = new Dialog({
    title: trans.__('Diagram'),
    body,
    buttons: [Dialog.okButton({ label: trans.__('Close') })],
    focusNodeSelector: 'input',
    hasClose: true
  });
  dialog.addClass('jp-hdspAgent-diagram-dialog');
  await dialog.launch();
}

function Diagram({
  picture,
  description,
  trans
}: {
  picture: string;
  description: string;
  trans: TranslationBundle;
}): JSX.Element {
  const [zoom, setZoom] = React.useState(1);
  const box = React.useRef<HTMLDivElement>(null);
  const before = React.useRef(zoom);
  React.useLayoutEffect(() => {
    // What is in the middle stays there.
    const node = box.current;
    const grown = zoom / before.current;
    before.current = zoom;
    if (node) {
      const { scrollLeft, scrollTop, clientWidth, clientHeight } = node;
      const [x, y] = [clientWidth / 2, clientHeight / 2];
      node.scrollLeft = (scrollLeft + x) * grown - x;
      node.scrollTop = (scrollTop + y) * grown - y;
    }
  }, [zoom]);
  const size = `${zoom * 100}%`;
  return (
    <div className="jp-hdspAgent-diagram">
      <label>
        {trans.__('Zoom')}{' '}
        <input
          type="range"
          min={1}
          max={LARGEST}
          step={0.25}
          value={zoom}
          aria-valuetext={percentText(zoom)}
          onChange={({ target }) => setZoom(target.valueAsNumber)}
        />{' '}
        {percentText(zoom)}
      </label>
      <div
        ref={box}
        className="jp-hdspAgent-diagram-box"
        role="region"
        tabIndex={0}
        aria-label={trans.__('Diagram, which can be scrolled and dragged')}
        onPointerDown={({ currentTarget, pointerId }) =>
          currentTarget.setPointerCapture(pointerId)
        }
        onPointerMove={({ currentTarget, buttons, movementX, movementY }) => {
          if (buttons === 1) {
            currentTarget.scrollLeft -= movementX;
            currentTarget.scrollTop -= movementY;
          }
        }}
      >
        <img
          className="jp-hdspAgent-diagram-picture"
          src={picture}
          alt={description || trans.__('Diagram')}
          draggable={false}
          style={{ width: size, height: size }}
        />
      </div>
    </div>
  );
}
