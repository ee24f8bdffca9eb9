import { type Base, pick, type Scene, standAnswers } from './scene.ts'

const MANY = 50

/** More rows than the dialog shows at once, with different names. */
const manyOf = ({ inventory }: Base) =>
  Array.from({ length: MANY }, (_, index) => ({
    name: `${inventory.items[index % inventory.items.length]?.name} #${index + 1}`,
    price: 1_000 + index,
    count: 1,
  }))

const sumOf = (items: readonly { price: number }[]): number =>
  items.reduce((sum, { price }) => sum + price, 0)

export const LISTS: Scene[] = [
  {
    name: 'confirmation-many',
    answers: (base) => ({
      ...standAnswers(base),
      payment: { ...base.pending, itemCount: MANY, amount: sumOf(manyOf(base)), items: manyOf(base) },
    }),
    steps: async (page, texts) => {
      await page.getByRole('list', { name: texts.itemsToGive }).scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'inventory-picked',
    answers: standAnswers,
    steps: async (page, texts) => {
      await pick(0, 1, 2, 3, 4, 5)(page, texts)
      // Only a phone has the list behind a button.
      const opener = page.getByRole('button', { name: texts.selectedCount(6) })
      const panel = page.locator('.summary')
      await opener.or(panel).first().waitFor()
      if (await opener.isVisible()) await opener.click()
    },
  },
]
