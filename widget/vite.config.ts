import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin, type Rolldown } from 'vite'
import { shellOf } from './shell.tsx'

const OUT = join(import.meta.dirname, 'dist')

/** Writes a .br and a .gz file next to each text asset, so the server never has to compress it. */
export function precompressed(): Plugin {
  let folder = ''
  return {
    name: 'precompressed',
    apply: 'build',
    configResolved({ root, build }) {
      folder = resolve(root, build.outDir, 'assets')
    },
    closeBundle(failure?: Error) {
      // A failed build calls this too, sometimes without its error. Then the folder is missing.
      if (failure !== undefined || !existsSync(folder)) return
      for (const name of readdirSync(folder).filter((file) => /\.(js|css|svg)$/.test(file))) {
        const content = readFileSync(join(folder, name))
        writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }))
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 }
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params: quality }))
      }
    },
  }
}

/** The modules of each part of the page, and the one of them that the page imports. */
const PARTS = {
  rest: {
    entry: '/rest/rest.tsx',
    modules: /\/widget\/(?:rest\/|toasts\/|flow\/(?!early|first-steps|selectors|state))/,
  },
  guide: { entry: '/link/guide.tsx', modules: /\/widget\/link\/guide\./ },
  stand: { entry: '/inventory/stand.tsx', modules: /\/widget\/inventory\// },
  dialogs: { entry: '/modals/modals.tsx', modules: /\/widget\/modals\// },
  help: { entry: '/screens/help.tsx', modules: /\/widget\/screens\/help\./ },
}
type PartName = Exclude<keyof typeof PARTS, 'help'>
/** The parts of a deposit's page. The help page is not one of them, and is not loaded again after a failure. */
const NAMED_PARTS: readonly PartName[] = ['rest', 'guide', 'stand', 'dialogs']

/**
 * Modules that have no state but caches. Each part has its own copy of the modules that it uses, so the page loads only
 * what it uses itself, and no part depends on another.
 */
const COPIED =
  /\/(?:contract\/(?:games|item-name|statuses|money)|widget\/(?:ui\/[\w-]+|i18n\/[\w-]+|parts\/(?:texts|solution-links|amount|maintenance|money-rows|items|item-name)|flow\/(?:selectors|split|stacks)))\.tsx?$/

/** The styles of these modules, except those that the page itself has. */
const COPIED_STYLES = /\/widget\/(?:ui\/(?:avatar|currency|picture)|parts\/[\w-]+)\.css$/

function copySharedModules(): Plugin {
  const partOf = (importer: string): string | undefined =>
    /\?part=(\w+)$/.exec(importer)?.[1] ??
    Object.entries(PARTS).find(([, { modules }]) => modules.test(importer))?.[0]
  return {
    name: 'copied-for-parts',
    apply: 'build',
    enforce: 'pre',
    async resolveId(source, importer) {
      const part = importer === undefined || !source.startsWith('.') ? undefined : partOf(importer)
      if (part === undefined) return null
      const resolved = await this.resolve(source, importer, { skipSelf: true })
      const isCopied = resolved !== null && (COPIED.test(resolved.id) || COPIED_STYLES.test(resolved.id))
      return isCopied ? `${resolved.id}?part=${part}` : resolved
    },
  }
}

/** Returns the files of a part that loads after the page: its script first, then its styles. */
function filesOf(part: PartName, bundle: Rolldown.OutputBundle): string[] {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
  const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(PARTS[part].entry))
  const entry = chunks.find(({ isEntry }) => isEntry)
  if (chunk === undefined || entry === undefined)
    throw new Error(`the build has no chunk of ${PARTS[part].entry}`)
  // A file that two parts share would have no second address if it failed to load.
  const others = chunk.imports.filter((file) => file !== entry.fileName && !entry.imports.includes(file))
  if (others.length > 0) throw new Error(`${PARTS[part].entry} needs ${others.join()} besides the page`)
  return [chunk.fileName, ...(chunk.viteMetadata?.importedCss ?? [])].map((file) => `/${file}`)
}

/** Writes the parts' file names into the page, which requests them under other addresses if a load fails. */
function namePartFiles(): Plugin {
  return {
    name: 'parts-named',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const named = NAMED_PARTS.map((part) => `data-${part}="${filesOf(part, bundle).join(' ')}"`)
        return html.replace('data-mode=', () => `${named.join(' ')} data-mode=`)
      },
    },
  }
}

/**
 * Inlines the page's styles, and a deposit's shell once without texts and once in each language. The gateway leaves one
 * of these shells in the page of a payment, so the document alone shows the payment.
 */
function firstPaint(): Plugin {
  return {
    name: 'first-paint',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const styles = [...html.matchAll(STYLESHEET)].map(([, name = '']) => takeStyles(name, bundle))
        if (styles.length === 0) throw new Error('the page has no styles')
        const preloadLinks = preloads([...filesOf('rest', bundle), ...filesOf('stand', bundle)])
        const shells = [
          `<!--shell-->${preloadLinks}${shellOf(null)}`,
          `<!--shell en-->${preloadLinks}${shellOf('en')}`,
          `<!--shell ru-->${preloadLinks}${shellOf('ru')}`,
        ]
        return html
          .replaceAll(STYLESHEET, '')
          .replaceAll(SCRIPT, (tag) => `${tag} fetchpriority="low"`)
          .replace('</head>', () => `<style>${styles.join('')}</style></head>`)
          .replace('<!--shells-->', () => `${shells.join('')}<!--/shells-->`)
      },
    },
  }
}

/** The browser can draw the page without the scripts. Without a low priority, they would delay that. */
const SCRIPT = /<script type="module"|<link rel="modulepreload"/g

const STYLESHEET = /<link rel="stylesheet" crossorigin href="\/(assets\/[\w.-]+)">/g

/** Removes a style sheet from the written files and returns its text. */
function takeStyles(name: string, bundle: Rolldown.OutputBundle): string {
  const file = bundle[name]
  if (file?.type !== 'asset') throw new Error(`the build has no ${name}`)
  delete bundle[name]
  return String(file.source).trim()
}

/**
 * Returns preload links for a known shopper: without these files, the page can show only the link field. The page loads
 * its styles with `crossorigin`, and a browser ignores a preload link without it.
 */
function preloads(files: readonly string[]): string {
  const links = files.map((file) =>
    file.endsWith('.js')
      ? `<link rel="modulepreload" fetchpriority="low" href="${file}">`
      : `<link rel="preload" as="style" crossorigin fetchpriority="low" href="${file}">`,
  )
  return `{{#knownShopper}}${links.join('')}{{/knownShopper}}`
}

/** The scripts of the first view. Most of their functions run before the shopper can do anything. */
const FIRST_VIEW_SCRIPTS = ['react', 'index', 'rest', 'stand']

/** Lets Chromium compile all functions of these scripts while they arrive, not one by one on the page's thread. */
function compileHints(): Plugin {
  return {
    name: 'compile-hints',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
        for (const name of FIRST_VIEW_SCRIPTS) {
          const chunk = chunks.find((each) => each.name === name)
          if (chunk === undefined) throw new Error(`the build has no chunk ${name}`)
          chunk.code = `//# allFunctionsCalledOnLoad\n${chunk.code}`
        }
      },
    },
  }
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), copySharedModules(), precompressed(), namePartFiles(), firstPaint(), compileHints()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    // These browsers support light-dark(); for older ones, the build would replace it with variables.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The page's Content Security Policy allows no pictures in `data:` URLs.
    assetsInlineLimit: 0,
    // The browsers named above can preload modules.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // React has its own file, so browsers keep it when a release changes only our code.
        codeSplitting: {
          groups: [{ name: 'react', test: /\/node_modules\/(?:react|react-dom|scheduler)\// }],
        },
      },
    },
  },
})
