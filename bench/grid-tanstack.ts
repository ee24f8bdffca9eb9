/** A page on which TanStack Virtual scrolls our cards and items. `grid.ts` compares it with our own grid. */
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { build } from 'vite'
import type { Item } from '../contract/widget-api.ts'
import { DESKTOP_CELL } from '../widget/inventory/geometry.ts'
import { withPackage } from './npm-package.ts'

const PACKAGE = '@tanstack/react-virtual'
export const TANSTACK = `${PACKAGE}@3.14.26`
/** A folder within the project, so the build finds React. */
const FOLDER = join(import.meta.dirname, '../.data/bench-tanstack')
const WIDGET = join(import.meta.dirname, '../widget')

const TYPES: Record<string, string> = { js: 'text/javascript', css: 'text/css' }

/** The number and width of our own columns in the same window. */
export type ColumnLayout = { columns: number; width: number }

const source = ({ columns, width }: ColumnLayout): string => `
  import { useWindowVirtualizer } from '${PACKAGE}'
  import { useMemo, useRef, useState } from 'react'
  import { createRoot } from 'react-dom/client'
  import '${WIDGET}/styles/tokens.css'
  import '${WIDGET}/styles/base.css'
  import '${WIDGET}/inventory/rarities.css'
  import '${WIDGET}/inventory/grid.css'
  import { Card } from '${WIDGET}/inventory/card.tsx'
  import { restTexts } from '${WIDGET}/i18n/rest.ts'
  import { PageProvider } from '${WIDGET}/page.tsx'

  const count = Number(new URLSearchParams(location.search).get('count'))
  const items = await (await fetch('/items?count=' + count)).json()

  function Shelf() {
    const [query, setQuery] = useState('')
    const [picked, setPicked] = useState(new Set())
    const shown = useMemo(() => items.filter(({ name }) => name.toLowerCase().includes(query)), [query])
    const list = useRef(null)
    const rows = useWindowVirtualizer({
      count: Math.ceil(shown.length / ${columns}),
      estimateSize: () => ${DESKTOP_CELL.height + DESKTOP_CELL.gap},
      overscan: 3,
    })
    const toggle = ({ target }) => {
      const item = shown[Number(target.closest('[data-index]')?.dataset.index)]
      if (item === undefined) return
      const next = new Set(picked)
      if (!next.delete(item.id)) next.add(item.id)
      setPicked(next)
    }
    return (
      <>
        <label className="search"><input value={query} onChange={(event) => setQuery(event.target.value)} /></label>
        <div ref={list} className="grid" role="grid" style={{ height: rows.getTotalSize() }} onClick={toggle}>
          {rows.getVirtualItems().map(({ key, index, start }) => (
            <div key={key} role="row" className="grid-row"
              style={{ transform: 'translateY(' + start + 'px)', height: ${DESKTOP_CELL.height}, columnGap: ${DESKTOP_CELL.gap} }}>
              {shown.slice(index * ${columns}, (index + 1) * ${columns}).map((item, column) => (
                <Card key={item.id} item={item} index={index * ${columns} + column} column={column} width={${width}}
                  currency="USD" count={1} pickedCount={picked.has(item.id) ? 1 : 0} isTabStop={false} whyId="why" />
              ))}
            </div>
          ))}
        </div>
      </>
    )
  }

  createRoot(document.getElementById('root')).render(
    <PageProvider language="en" onLanguage={() => {}} restTexts={restTexts}><Shelf /></PageProvider>,
  )
`

/** Resolves once the page is served. `?count=` sets the number of items. */
export async function serveTanstack(
  stock: (count: number) => readonly Item[],
  layout: ColumnLayout,
): Promise<{ url: string; end(): void }> {
  await withPackage(TANSTACK, (folder) => buildPage(join(folder, 'node_modules', PACKAGE), layout))
  const dist = join(FOLDER, 'dist')
  const files = new Map(
    readdirSync(join(dist, 'assets')).map((name) => [
      `/assets/${name}`,
      readFileSync(join(dist, 'assets', name)),
    ]),
  )
  files.set('/', readFileSync(join(dist, 'index.html')))
  const server = createServer(({ url = '/' }, answer) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    const file = files.get(pathname)
    const type = TYPES[pathname.split('.').at(-1) ?? ''] ?? 'text/html'
    answer.writeHead(200, { 'content-type': `${type}; charset=utf-8` })
    answer.end(file ?? JSON.stringify(stock(Number(searchParams.get('count')))))
  })
  await once(server.listen(0, 'localhost'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return { url: `http://localhost:${address.port}`, end: () => server.close() }
}

async function buildPage(packageFolder: string, layout: ColumnLayout): Promise<void> {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(
    join(FOLDER, 'index.html'),
    '<!doctype html><title>TanStack</title><div id="root"></div><script type="module" src="/main.jsx"></script>',
  )
  writeFileSync(join(FOLDER, 'main.jsx'), source(layout))
  await build({
    root: FOLDER,
    logLevel: 'silent',
    plugins: [react()],
    resolve: { alias: { [PACKAGE]: packageFolder }, dedupe: ['react', 'react-dom'] },
    build: { target: 'es2022', modulePreload: { polyfill: false } },
  })
}
