import { expect, test } from '../chat';

const LONG = Array.from({ length: 60 }, (_, at) => `step_${at} = ${at}`);
const ANSWER = [
  'This is how it goes:',
  '```mermaid\ngraph LR\n  Load --> Clean --> Plot\n  Clean --> Drop\n```',
  `\`\`\`python\n${LONG.join('\n')}\n\`\`\``,
  'That is all.'
].join('\n\n');

test('what was changed is listed, a diagram is shown large, and long code is folded', async ({
  chat,
  lab,
  model,
  notebooks
}) => {
  test.slow();
  await notebooks.write('steps.ipynb', [{ id: 'load', source: 'a = 1' }]);
  await lab.api.change({
    autoApprovalEnabled: true,
    alwaysAllowReadOnly: true,
    alwaysAllowWrite: true
  });
  await chat.begin('Write the steps down.');
  const write = (path: string, content: string) =>
    model.call('write_to_file', { path, content });
  await write('notes/steps.py', 'load()\n');
  await write('notes/steps.py', 'load()\nclean()\n');
  await model.call('read_notebook', { path: 'steps.ipynb', view: 'cells' });
  await model.call('edit_cells', {
    path: 'steps.ipynb',
    operations: [{ op: 'edit', cell: 'load', old: '1', new: '2' }]
  });
  await chat.finish(model, ANSWER);

  await test.step('files', async () => {
    const changed = lab.panel.getByRole('region', {
      name: 'What the agent changed'
    });
    await changed.getByRole('button', { name: '2 files changed' }).click();
    await changed
      .getByRole('button', { name: 'Changes to notes/steps.py' })
      .click();
    await expect(changed).toContainText('2 changes');
    await expect(changed).toContainText('+clean()');
    await chat.expectAtEnd();
    await lab.picture('files-changed');
    await changed
      .getByRole('button', { name: 'steps.ipynb', exact: true })
      .click();
    await expect(
      lab.page.getByRole('main').getByRole('tab', { name: 'steps.ipynb' })
    ).toBeVisible();
    await changed.getByRole('button', { name: '2 files changed' }).click();
  });

  const more = chat.button('Show all 60 lines');
  await test.step('code', async () => {
    await expect(more).toBeVisible();
    await chat.expectAtEnd();
    await more.scrollIntoViewIfNeeded();
    await lab.picture('code-folded');
    await more.press('Enter');
    const less = chat.button('Show less');
    await expect(less).toBeFocused();
    await expect(less).toHaveAttribute('aria-expanded', 'true');
    await less.press('Enter');
    await expect(more).toBeFocused();
    await expect(more).toBeInViewport();
  });

  await test.step('diagram', async () => {
    const large = chat.button('Enlarge this diagram');
    await large.press('Enter');
    const zoom = chat.dialog.getByRole('slider', { name: 'Zoom' });
    await expect(zoom).toBeFocused();
    await lab.picture('diagram');
    await zoom.press('End');
    await expect(zoom).toHaveAttribute('aria-valuetext', '800%');
    await lab.picture('diagram-zoomed');

    const box = chat.dialog.getByRole('region', { name: 'Diagram' });
    const place = () =>
      box.evaluate(({ scrollLeft, scrollTop }) => [scrollLeft, scrollTop]);
    const [left, top] = await place();
    await box.hover();
    const { x, y } = await box.evaluate(node => {
      const { left, top, width, height } = node.getBoundingClientRect();
      return { x: left + width / 2, y: top + height / 2 };
    });
    await lab.page.mouse.down();
    await lab.page.mouse.move(x - 60, y - 30, { steps: 4 });
    await lab.page.mouse.up();
    expect(await place()).toEqual([left + 60, top + 30]);
    await lab.page.mouse.move(x, y);
    expect(await place()).toEqual([left + 60, top + 30]);
    await lab.page.keyboard.press('Escape');
    await expect(chat.dialog).toHaveCount(0);
    await expect(large).toBeFocused();
  });

  await test.step('at 250 pixels', async () => {
    const changed = lab.panel.getByRole('region', {
      name: 'What the agent changed'
    });
    await changed.getByRole('button', { name: '2 files changed' }).click();
    await changed
      .getByRole('button', { name: 'Changes to steps.ipynb' })
      .click();
    await lab.page.addStyleTag({
      content: `.jp-hdspAgent-Panel {
        width: 250px !important;
        min-width: 250px !important;
      }`
    });
    await chat
      .button('Copy the source of this diagram')
      .scrollIntoViewIfNeeded();
    await lab.picture('answers-narrow');
  });
});
