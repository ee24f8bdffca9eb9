import { modalTexts } from '../i18n/modals.ts'
import { pageWith } from '../parts/texts.ts'

export const useModal = pageWith(modalTexts)
