/** The scenes of the lists of items. */
import { type Base, pick, type Scene, stand } from './scene.ts'

const MANY = 50

/** Every kind of name an offer can have, in more rows than the dialog shows. */
const manyOf = ({ inventory }: Base) =>
  Array.from({ length: MANY }, (_, index) => ({
    name: `${inventory.items[index % inventory.items.length]?.name} #${index + 1}`,
    price: 1_000 + index,
    count: 1,
  }))

export const LISTS: Scene[] = [
  {
    name: 'confirmation-many',
    answers: (base) => ({
      ...stand(base),
      payment: { ...base.pending, itemCount: MANY, amount: 51_225, items: manyOf(base) },
    }),
    steps: async (page, texts) => {
      await page.getByRole('list', { name: texts.itemsToGive }).scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'inventory-picked',
    answers: stand,
    steps: async (page, texts) => {
      await pick(0, 1, 2, 3, 4, 5)(page, texts)
      // Only a phone has the list behind a button.
      const door = page.getByRole('button', { name: texts.selectedCount(6) })
      const panel = page.locator('.summary')
      await door.or(panel).first().waitFor()
      if (await door.isVisible()) await door.click()
    },
  },
]
