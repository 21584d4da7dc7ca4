import * as React from 'react';

import { secureLinks } from '../markdown/securelinks';
import { useRenderContext } from '../rendercontext';

/**
 * What a program wrote, by Lab's own renderer: nothing in it is fetched, and
 * nothing in it does anything.
 *
 * @param mimeType - What it is.
 *
 * @param onFailed - Called if it cannot be rendered; the same function each time.
 */
export function RenderedOutput({
  mimeType,
  text,
  onFailed
}: {
  mimeType: string;
  text: string;
  onFailed?: () => void;
}): JSX.Element {
  const { rendermime } = useRenderContext();
  const host = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    const data = { [mimeType]: text };
    const renderer = rendermime.createRenderer(mimeType);
    const model = rendermime.createModel({ data, trusted: false });
    let isWanted = true;
    renderer
      .renderModel(model)
      .then(() => {
        if (isWanted) {
          secureLinks(renderer.node);
          host.current?.replaceChildren(renderer.node);
        }
      })
      .catch((reason: unknown) => {
        console.warn('An output could not be rendered', reason);
        if (isWanted) {
          onFailed?.();
        }
      });
    return () => {
      isWanted = false;
      renderer.dispose();
    };
  }, [rendermime, mimeType, text, onFailed]);
  return <div ref={host} />;
}
