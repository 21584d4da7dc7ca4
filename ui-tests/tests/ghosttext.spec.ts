import { openConsole } from '../console';
import { FillInServer } from '../fillinserver';
import { expect, OpenNotebook, test } from '../notebooks';

const PATH = 'ghost.ipynb';

test('ghost text is turned on, taken whole and in parts, and turned off', async ({
  lab,
  notebooks
}) => {
  const server = await FillInServer.start();
  try {
    const { api, page } = lab;
    const { keyboard } = page;
    await api.useProfile({
      apiProvider: 'openai',
      openAiModelId: 'coder',
      openAiBaseUrl: server.url
    });
    await api.change({ ghostTextApiConfigId: 'default' });
    await notebooks.write(PATH, [
      { id: 'load', source: 'import pandas as pd' },
      { id: 'use', source: 'df = pd' },
      { id: 'block', source: 'def area(w, h)' },
      { id: 'text', source: '## Rents', type: 'markdown' }
    ]);
    await lab.visit();
    const notebook = await OpenNotebook.open(lab, PATH);
    const item = page.getByRole('button', { name: /^(Ghost|No ghost) text/ });
    const ghost = notebook.panel.locator('.jp-GhostText');

    await test.step('it is off until somebody turns it on', async () => {
      server.answers = {
        'df = pd.': ['read_csv("flats.csv")'],
        'area(w, h):': ['\n    size = w * h\n    return size'],
        '## Rents': [' by town', ' by year', ' by size']
      };
      await expect(item).toHaveText('Ghost text off');
      await notebook.edit(1);
      await keyboard.type('.');
      await item.click();
      await expect(item).toHaveText('Ghost text on');
      expect(await api.setting('ghostTextEnabled')).toBe(true);
      expect(server.asked).toEqual([]);
    });

    await test.step('what is suggested is shown in grey', async () => {
      await notebook.edit(1);
      await keyboard.press('Backspace');
      await keyboard.type('.');
      await expect(ghost).toHaveText('read_csv("flats.csv")');
      expect(server.asked.at(-1)).toEqual(
        expect.objectContaining({
          prompt: 'import pandas as pd\n\ndf = pd.',
          suffix: ''
        })
      );
      await lab.picture('ghost-text');
    });

    await test.step('typing on in it asks no more', async () => {
      const before = server.asked.length;
      await keyboard.type('read');
      await expect(ghost).toHaveText('_csv("flats.csv")');
      expect(server.asked).toHaveLength(before);
    });

    await test.step('a word of it', async () => {
      await keyboard.press('Alt+.');
      await expect(notebook.lines(1)).toContainText('df = pd.read_csv');
      await expect(ghost).toHaveText('("flats.csv")');
      await keyboard.press('Alt+.');
      await expect(ghost).toHaveText('flats.csv")');
    });

    await test.step('all of it, and one step back', async () => {
      await keyboard.press('Alt+End');
      await expect(ghost).toHaveCount(0);
      await expect(notebook.lines(1)).toHaveText(
        'df = pd.read_csv("flats.csv")'
      );
    });

    await test.step('several lines, one after the other', async () => {
      await notebook.edit(2);
      await keyboard.type(':');
      await expect(ghost).toContainText('return size');
      await lab.picture('ghost-text-lines');
      await keyboard.press('Alt+Shift+.');
      await expect(notebook.lines(2)).toHaveText([
        'def area(w, h):',
        /^ {4}size = w \* h/
      ]);
      await keyboard.press('Alt+Shift+.');
      await expect(notebook.lines(2)).toHaveText([
        'def area(w, h):',
        '    size = w * h',
        '    return size'
      ]);
    });

    await test.step('several to choose from', async () => {
      await notebook.cell(3).click();
      await keyboard.press('Enter');
      await keyboard.press('Control+End');
      await keyboard.press('Alt+\\');
      await expect(ghost).toHaveText('by town');
      await keyboard.press('Alt+]');
      await expect(ghost).toHaveText('by year');
      await keyboard.press('Alt+End');
      await expect(notebook.lines(3)).toHaveText('## Rents by year');
    });

    await test.step('in a file, too', async () => {
      await api.jupyter('PUT', 'contents/ghost.py', {
        type: 'file',
        format: 'text',
        content: 'import os\nos'
      });
      await lab.execute('docmanager:open', { path: 'ghost.py' });
      const editor = page.locator('.jp-FileEditor .cm-content');
      server.answers['os.'] = ['getcwd()'];
      await editor.click();
      await keyboard.press('Control+End');
      await keyboard.type('.');
      await expect(editor.locator('.jp-GhostText')).toHaveText('getcwd()');
      await keyboard.press('Alt+End');
      await expect(editor).toContainText('os.getcwd()');
    });

    await test.step('in a console, which knows what ran there', async () => {
      const prompt = await openConsole(lab);
      server.answers['town.'] = ['upper()'];
      await keyboard.type('town = "Ulm"');
      await keyboard.press('Shift+Enter');
      await expect(
        page.locator('.jp-CodeConsole-content .jp-InputPrompt', {
          hasText: '[1]:'
        })
      ).toBeVisible();
      await prompt.click();
      await keyboard.type('town.');
      await expect(prompt.locator('.jp-GhostText')).toHaveText('upper()');
      expect(server.asked.at(-1)?.prompt).toMatch(/town = "Ulm"\s.*town\.$/s);
      await keyboard.press('Alt+End');
      await expect(prompt).toHaveText('town.upper()');
    });

    await test.step('but in none that holds keys', async () => {
      await api.jupyter('PUT', 'contents/id_rsa', {
        type: 'file',
        format: 'text',
        content: 'my key'
      });
      await lab.execute('docmanager:open', {
        path: 'id_rsa',
        factory: 'Editor'
      });
      const editor = page
        .locator('.jp-FileEditor .cm-content')
        .filter({ visible: true });
      const answered = page.waitForResponse(response =>
        Boolean(response.request().postData()?.includes('my key.'))
      );
      await editor.click();
      await keyboard.press('Control+End');
      await keyboard.type('.');
      await answered;
      expect(JSON.stringify(server.asked)).not.toContain('my key');
      await lab.execute('docmanager:open', { path: PATH });
    });

    await test.step('why there is none', async () => {
      await api.change({ ghostTextApiConfigId: null });
      await notebook.edit(1);
      await keyboard.type('.');
      await expect(item).toHaveText('No ghost text');
      await expect(item).toHaveAttribute(
        'title',
        /Download the embedded model/
      );
    });

    await test.step('with the command, too', async () => {
      await page.menu.clickMenuItem('Agent>Ghost Text');
      await expect(item).toHaveText('Ghost text off');
      const before = server.asked.length;
      await notebook.edit(1);
      await keyboard.type('he');
      await notebook.save();
      expect(server.asked).toHaveLength(before);
    });
  } finally {
    await server.stop();
  }
});
