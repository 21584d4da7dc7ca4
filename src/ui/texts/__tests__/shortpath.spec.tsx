import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

import type { IPanelServices } from '../../services';
import { PanelContext } from '../../services';
import { ShortPath } from '../shortpath';

describe('ShortPath', () => {
  const parts = (path: string) => {
    const host = document.createElement('div');
    host.innerHTML = renderToStaticMarkup(
      <PanelContext.Provider
        value={
          {
            trans: nullTranslator.load('hdsp_agent')
          } as unknown as IPanelServices
        }
      >
        <ShortPath path={path} />
      </PanelContext.Provider>
    );
    return {
      title: host.querySelector<HTMLElement>('[title]')?.title,
      read: host.querySelector('.jp-hdspAgent-announcement')?.textContent,
      seen: [...host.querySelectorAll('[aria-hidden]')].map(
        ({ textContent }) => textContent
      )
    };
  };

  it.each([
    ['a.py', ['a.py']],
    ['/a.py', ['/a.py']],
    ['data/of/2026/a.py', ['data/of/2026', '/a.py']]
  ])('should keep the name of %s apart, and read it whole', (path, seen) => {
    expect(parts(path)).toEqual({ title: path, read: path, seen });
  });
});
