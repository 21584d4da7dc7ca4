import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { MessageLoop } from '@lumino/messaging';
import { Menu, MenuBar, Widget } from '@lumino/widgets';

import schema from '../../../labextension/schema/commands.json';
import { translateMenus } from '../menulabels';

const TRANS = {
  ...nullTranslator.load('hdsp_agent'),
  _p: (context: string, text: string) => `${context}: ${text}`
};
const AGENT = 'jp-mainmenu-hdsp-agent';

describe('translateMenus()', () => {
  const commands = new CommandRegistry();
  let bar: MenuBar;

  beforeEach(() => {
    bar = new MenuBar();
  });

  afterEach(() => {
    bar.dispose();
  });

  const aMenu = (id: string, label: string, submenus: string[]) => {
    const menu = new Menu({ commands });
    menu.id = id;
    menu.title.label = label;
    for (const name of submenus) {
      const submenu = new Menu({ commands });
      submenu.title.label = name;
      menu.addItem({ type: 'submenu', submenu });
    }
    return menu;
  };
  const labels = (menu: Menu | undefined): string[] => [
    menu?.title.label ?? '',
    ...(menu?.items ?? []).flatMap(({ submenu }) =>
      submenu === null ? [] : labels(submenu)
    )
  ];

  it('should name the menus of the schema in the language, whenever Lab makes them', () => {
    const { label, items } = schema['jupyter.lab.menus'].main.find(
      ({ id }) => id === AGENT
    ) as { label: string; items: { submenu?: { label: string } }[] };
    const names = items.flatMap(({ submenu }) =>
      submenu === undefined ? [] : [submenu.label]
    );
    translateMenus([new Widget(), bar], TRANS);
    bar.addMenu(aMenu(AGENT, label, names));
    MessageLoop.flush();
    expect(labels(bar.menus[0])).toEqual(
      [label, ...names].map(name => `menu: ${name}`)
    );
  });

  it('should name those that are there, and leave others and unknown names alone', () => {
    bar.addMenu(aMenu('jp-mainmenu-other', 'Agent', []));
    bar.addMenu(aMenu(AGENT, 'エージェント', ['Timeline']));
    translateMenus([bar], TRANS);
    expect(labels(bar.menus[0])).toEqual(['Agent']);
    expect(labels(bar.menus[1])).toEqual(['エージェント', 'menu: Timeline']);
  });
});
