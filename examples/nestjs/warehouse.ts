// The application as it was before: a controller and its module.
import { Controller, Get, Module } from '@nestjs/common';

@Controller('shelves')
class Shelves {
  @Get()
  list() {
    return [{ aisle: 'A', free: 3 }];
  }
}

@Module({ controllers: [Shelves] })
export class Warehouse {}
