/** Models: opened by their names, or chosen by what is configured. */
export {
  chooseModel,
  type ChooseModelOptions,
  type ChosenModel,
  DEFAULT_MODELS,
  MODEL_VARIABLES,
} from './choose.ts';
export { MODEL_FORMS } from './forms.ts';
export type { Model, ModelRequest } from './model.ts';
export { openModel, type OpenModelOptions } from './open.ts';
