import { TEXTS } from '../texts.ts'
import type { Visitor } from '../visitor.ts'
import { page } from './layout.ts'

export function helpPage(visitor: Visitor): string {
  const { helpTitle, help, back } = TEXTS[visitor.language]
  const sections = help.map(({ title, text }) => `<h2>${title}</h2><p>${text}</p>`)
  return page({
    title: `${helpTitle} · Ember Forge`,
    visitor,
    main: `<section class="card"><h1>${helpTitle}</h1>${sections.join('')}
<p><a class="button" href="/">${back}</a></p></section>`,
  })
}
