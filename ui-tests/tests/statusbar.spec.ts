import { expect, test } from '../chat';

test('the status bar tells how the agent is, and leads to its question', async ({
  chat,
  lab,
  model
}) => {
  const { page } = lab;
  const item = page.locator('.jp-hdspAgent-status-button[data-phase]');
  await chat.open();
  await expect(item).toHaveText('Idle');
  await chat.say('Which tea shall we plot?');
  await model.asked();
  await expect(item).toContainText('Working');
  await model.order('ask_followup_question', {
    question: 'Green or black?',
    follow_up: [{ text: 'Green' }, { text: 'Black' }]
  });
  await expect(item).toContainText('Waiting for you');
  await expect(item).toContainText('tokens');
  await lab.picture('statusbar-waits');

  await test.step('from wherever one is', async () => {
    await page.sidebar.openTab('filebrowser');
    await expect(lab.panel).toBeHidden();
    await item.click();
    const question = chat.messages('Question', 'Green or black?');
    await expect(question).toBeInViewport();
    await expect(question).toBeFocused();
  });

  await test.step('with the keyboard too', async () => {
    await page.sidebar.openTab('filebrowser');
    await page.keyboard.press('Control+Alt+Shift+Enter');
    await expect(chat.messages('Question', 'Green or black?')).toBeFocused();
  });
});

test('every command has one name, a description and a place in a menu', async ({
  chat,
  lab
}) => {
  await chat.open();
  const { page } = lab;
  const commands = await page.evaluate(async () => {
    const { commands } = (
      window as unknown as {
        jupyterapp: {
          commands: {
            listCommands(): string[];
            label(id: string, args?: object): string;
            caption(id: string): string;
            describedBy(id: string): Promise<{
              args: {
                properties?: Record<string, { description?: string }>;
              } | null;
            }>;
          };
        };
      }
    ).jupyterapp;
    const ours = commands
      .listCommands()
      .filter(id => id.startsWith('hdsp-agent:'));
    return Promise.all(
      ours.map(async id => {
        const { args } = await commands.describedBy(id);
        return {
          id,
          label: commands.label(id, { isPalette: true }),
          short: commands.label(id),
          described: args !== null,
          // Who calls a command from elsewhere reads what each argument is.
          unexplained: Object.entries(args?.properties ?? {})
            .filter(([, { description }]) => !description)
            .map(([name]) => name)
        };
      })
    );
  });
  expect(commands.length).toBeGreaterThan(50);
  expect(
    commands.filter(
      ({ label, short, described, unexplained }) =>
        !/^Agent: \S/.test(label) ||
        /^Agent: /.test(short) ||
        !described ||
        unexplained.length > 0
    )
  ).toEqual([]);

  await test.step('the palette shows names and keys', async () => {
    // It would lie over a part of the panel.
    await page.sidebar.openTab('filebrowser');
    await page.keyboard.press('Control+Shift+c');
    const palette = page.locator('.lm-CommandPalette');
    await palette
      .getByRole('searchbox')
      .or(palette.locator('input'))
      .fill('agent: new conv');
    const found = palette.locator('.lm-CommandPalette-item').first();
    await expect(found).toContainText('Agent: New Conversation');
    await expect(found.locator('.lm-CommandPalette-itemShortcut')).toHaveText(
      /Y/
    );
    await lab.picture('palette');
    await page.keyboard.press('Escape');
  });

  await test.step('the menu', async () => {
    await page.menu.open('Agent');
    const menu = page.locator('.lm-Menu').last();
    await expect(menu).toContainText('New Conversation');
    await expect(menu).toContainText('Settings');
    await lab.picture('agent-menu');
    await page.menu.closeAll();
  });

  await test.step('what is chosen there shows the panel', async () => {
    await page.sidebar.openTab('filebrowser');
    await page.menu.clickMenuItem('Agent>Show Past Conversations');
    await expect(chat.history).toBeVisible();
  });

  await test.step('the launcher', async () => {
    const card = page.locator('.jp-LauncherCard[data-category="HDSP Agent"]');
    await expect(card).toBeInViewport({ ratio: 1 });
    await page.setViewportSize({ width: 1280, height: 720 });
    await expect(card).toBeInViewport({ ratio: 1 });
    await lab.picture('launcher');
  });
});
