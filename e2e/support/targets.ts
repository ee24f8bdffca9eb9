/** Finds targets (links, buttons and fields) that are too small for a finger. */
import type { Page } from 'playwright-core'

/** The least width and height in CSS pixels: of every target (WCAG 2.5.8), and of buttons and the links beside them. */
const LEAST = 24
const LEAST_OF_PRIMARY = 44

type Limits = { least: number; leastOfPrimary: number }

/**
 * Runs in the page. Returns the targets that are too small, by their name and size. A target is as large as the area in
 * which a press hits it, its pseudo-elements included. A link inside a sentence is exempt.
 */
function smallTargets({ least, leastOfPrimary }: Limits): string[] {
  const isPrimary = (element: Element) => element.matches('.button, .icon-button, .link')
  const isInSentence = (element: Element) =>
    element.matches('a, button.link') &&
    getComputedStyle(element).display === 'inline' &&
    (element.parentElement?.textContent?.trim().length ?? 0) > (element.textContent?.trim().length ?? 0)
  const hits = (element: Element, x: number, y: number) => {
    const hit = document.elementFromPoint(x, y)
    return hit !== null && (element.contains(hit) || hit.closest('label')?.control === element)
  }
  // A popover covers other targets, so its own come first.
  const popovers = [...document.querySelectorAll<HTMLElement>(':popover-open')]
  const isInPopover = (element: Element) => popovers.some((popover) => popover.contains(element))
  const targets = [
    ...document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=gridcell]'),
  ]
  const found: string[] = []
  for (const element of targets.toSorted((a, b) => Number(isInPopover(b)) - Number(isInPopover(a)))) {
    if (!isInPopover(element)) for (const popover of popovers.splice(0)) popover.hidePopover()
    const box = element.getBoundingClientRect()
    if (box.width === 0 || box.height === 0) continue
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
    const { left, top, width, height } = element.getBoundingClientRect()
    const [x, y] = [left + width / 2, top + height / 2]
    // Skips targets that are behind a dialog or the bottom bar, visible to screen readers alone, disabled, or in a
    // sentence.
    if (!hits(element, x, y) || element.matches(':disabled') || isInSentence(element)) continue
    const wanted = isPrimary(element) ? leastOfPrimary : least
    const reach = (dx: number, dy: number) => {
      let far = 0
      while (far < wanted && hits(element, x + dx * (far + 0.5), y + dy * (far + 0.5))) far += 1
      return far
    }
    const size = { width: reach(-1, 0) + reach(1, 0), height: reach(0, -1) + reach(0, 1) }
    // If an edge lies between two pixels, one of them is not counted.
    if (size.width >= wanted - 1 && size.height >= wanted - 1) continue
    const name = element.getAttribute('aria-label') ?? element.textContent?.trim() ?? ''
    found.push(
      `${element.tagName} ${element.className} “${name.slice(0, 30)}”: ${size.width}×${size.height}, not ${wanted}`,
    )
  }
  return found
}

export const targetsTooSmall = (page: Page): Promise<string[]> =>
  page.evaluate(smallTargets, { least: LEAST, leastOfPrimary: LEAST_OF_PRIMARY })
