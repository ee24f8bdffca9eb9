import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { precompressed } from '../widget/vite.config.ts'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), precompressed()],
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    target: 'es2022',
    // The page's policy allows no inline script and no data: picture.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
